# Records the exception that ends a Ruby program, with the variables of the frame that raised it. Ruby loads it at its
# start because RUBYOPT names it.
if ENV["STEPWELL_RECORD"] && Dir.exist?(ENV["STEPWELL_RECORD"])
  module StepwellRecorder
    LENGTH = 160
    RAISED = []
    LIBRARIES = [RbConfig::CONFIG["rubylibprefix"], RbConfig::CONFIG["sitedir"]].compact.map { |folder| "#{folder}/" }

    class << self
      def write(record)
        require "json"
        path = File.join(ENV["STEPWELL_RECORD"], "#{Process.pid}.jsonl")
        File.open(path, "a", 0o600) { |file| file.puts(JSON.generate(record)) }
      rescue StandardError
        nil
      end

      def short(value)
        text = value.inspect.to_s.scrub
        text.length > LENGTH ? "#{text[0, LENGTH]}… (#{text.length} characters)" : text
      rescue StandardError => error
        "<#{value.class}: its inspect raised #{error.class}>"
      end

      def library?(path)
        path.start_with?("<internal:", *LIBRARIES) || path.include?("/gems/") || path == __FILE__
      end

      def saw(trace)
        return if library?(trace.path)
        RAISED.shift if RAISED.length > 8
        RAISED << [trace.raised_exception, trace.binding, File.expand_path(trace.path), trace.lineno]
      end

      def variables(binding)
        rows = binding.local_variables.map { |name| [name.to_s, binding.local_variable_get(name)] }
        object = binding.receiver
        rows += object.instance_variables.map { |name| [name.to_s, object.instance_variable_get(name)] } unless object.to_s == "main"
        rows.reject { |name, _| name.start_with?("_") }.first(24).map { |name, value| [name, short(value), value.class.to_s] }
      end

      def frames(error)
        error, binding, path, line = RAISED.reverse.find { |raised, *| raised.equal?(error) } || [error, nil, nil, nil]
        own = (error.backtrace_locations || []).reject { |place| library?(place.path.to_s) }
        own.first(12).map.with_index do |place, at|
          file = File.expand_path(place.absolute_path || place.path)
          rows = at.zero? && binding && file == path && place.lineno == line ? variables(binding) : []
          used = File.foreach(file).first(place.lineno).last.to_s rescue ""
          named = rows.select { |name, *| used.match?(/(?<![\w@])#{Regexp.escape(name)}(?!\w)/) }
          values = named.map { |name, value, _| { name: name, value: value } }
          { function: place.label, file: file, line: place.lineno, variables: rows, values: values }
        end
      end

      def record(error)
        frames = frames(error)
        all = (error.backtrace || []).length
        causes = []
        cause = error.cause
        while cause && causes.length < 4
          causes << { how: "cause", type: cause.class.to_s, message: cause.message.to_s.scrub[0, 500], frame: frames(cause).first }
          cause = cause.cause
        end
        message = error.respond_to?(:original_message) ? error.original_message : error.message.lines.first.to_s.chomp
        write(event: "failure", how: "uncaught", type: error.class.to_s, message: message.scrub[0, 2000],
              frames: frames, library_frames: [all - frames.length, 0].max, causes: causes)
      end
    end
  end

  StepwellRecorder.write(event: "start")
  TracePoint.new(:raise) { |trace| StepwellRecorder.saw(trace) }.enable
  at_exit do
    error = $!
    if error.is_a?(SystemExit)
      StepwellRecorder.write(event: "exit", message: "", frames: StepwellRecorder.frames(error)) unless error.success?
    elsif error
      StepwellRecorder.record(error)
    end
  end
end
