# Records the exceptions that end a Ruby program or fail its tests, with the variables of its own frames. Ruby loads it
# at its start because RUBYOPT names it.
if ENV["STEPWELL_RECORD"] && Dir.exist?(ENV["STEPWELL_RECORD"])
  module StepwellRecorder
    LENGTH = 160
    FRAMES = 12
    # Frames whose variables are kept of each exception, exceptions that are kept, and how many are looked at in all:
    # some programs raise in their inner loops.
    WITH_VARIABLES = 4
    MOST_KEPT = 16
    MOST_SEEN = 20_000
    # Seconds that reading the variables of all frames may take in all.
    MOST_SPENT = 2.0
    Raised = Struct.new(:error, :frames)
    Frame = Struct.new(:path, :line, :variables)
    RAISED = []
    LIBRARIES = [RbConfig::CONFIG["rubylibprefix"], RbConfig::CONFIG["sitedir"], RbConfig::CONFIG["vendordir"],
                 "/usr/lib/ruby", "/usr/share/rubygems-integration"].compact.map { |folder| "#{folder}/" }

    # Ruby's own debugger sees the variables of all frames; without it those of the one that raised are seen.
    begin
      require "debug/frame_info"
      require "debug/debug.so"
      SEES_FRAMES = DEBUGGER__.respond_to?(:capture_frames)
    rescue LoadError, StandardError
      SEES_FRAMES = false
    end

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

      # Programs of packages lie in `bin` folders, and name their library by themselves.
      def library?(path)
        path.start_with?("<internal:", *LIBRARIES) || path.include?("/gems/") || path == __FILE__ ||
          path.start_with?("/usr/bin/", "/usr/local/bin/")
      end

      # Keeps the variables as they are when it is raised: `ensure` may change them on the way out.
      def saw(trace)
        @seen = (@seen || 0) + 1
        return if @seen > MOST_SEEN || RAISED.any? { |raised| raised.error.equal?(trace.raised_exception) }
        frames = SEES_FRAMES && (@spent || 0) < MOST_SPENT ? timed { captured } : []
        if frames.empty? && !library?(trace.path)
          frames = [Frame.new(File.expand_path(trace.path), trace.lineno, variables(trace.binding))]
        end
        return if frames.empty?
        RAISED.shift if RAISED.length >= MOST_KEPT
        RAISED << Raised.new(trace.raised_exception, frames)
      rescue StandardError
        nil
      end

      def timed
        begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        yield
      ensure
        @spent = (@spent || 0) + Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
      end

      def captured
        frames = []
        DEBUGGER__.capture_frames(__FILE__).each do |info|
          place = info.location
          next if place.nil? || info.binding.nil? || library?(place.path.to_s)
          frames << Frame.new(File.expand_path(place.absolute_path || place.path), place.lineno, variables(info.binding))
          break if frames.length >= WITH_VARIABLES
        end
        frames
      end

      def variables(binding)
        rows = binding.local_variables.map { |name| [name.to_s, binding.local_variable_get(name)] }
        object = binding.receiver
        unless machinery?(object)
          rows += object.instance_variables.map { |name| [name.to_s, object.instance_variable_get(name)] }
        end
        rows.reject { |name, _| name.start_with?("_", "@_") }.first(24)
      end

      # The object of a test has variables of its runner too, such as `@assertions` and `@NAME`.
      RUNNERS_OWN = %w[@NAME @assertions @failures @time @example @fixture_connections].freeze

      def machinery?(object)
        TOPLEVEL_BINDING.receiver.equal?(object)
      end

      # Methods written in C, such as `each`, have the place of their caller.
      def without_builtin(places)
        places.each_with_index.reject do |place, at|
          caller = places[at + 1]
          caller && caller.path == place.path && caller.lineno == place.lineno && caller.label != place.label
        end.map(&:first)
      end

      def frames(error)
        raised = RAISED.reverse.find { |one| one.error.equal?(error) }
        left = raised ? raised.frames.dup : []
        own = without_builtin(error.backtrace_locations || []).reject { |place| library?(place.path.to_s) }
        own.first(FRAMES).map do |place|
          file = File.expand_path(place.absolute_path || place.path)
          at = left.index { |frame| frame.path == file && frame.line == place.lineno }
          rows = at ? left.delete_at(at).variables : []
          rows = rows.reject { |name, _| RUNNERS_OWN.include?(name) }
          rows = rows.map { |name, value| [name, short(value), value.class.to_s] }
          used = File.foreach(file).first(place.lineno).last.to_s rescue ""
          named = rows.select { |name, *| used.match?(/(?<![\w@])#{Regexp.escape(name)}(?!\w)/) }
          values = named.map { |name, value, _| { name: name, value: value } }
          { function: place.label, file: file, line: place.lineno, variables: rows, values: values }
        end
      end

      def record(error, how: "uncaught", test: nil)
        frames = frames(error)
        all = (error.backtrace || []).length
        causes = []
        cause = error.cause
        while cause && causes.length < 4
          causes << { how: "cause", type: cause.class.to_s, message: cause.message.to_s.scrub[0, 500], frame: frames(cause).first }
          cause = cause.cause
        end
        write(event: "failure", how: how, test: test, type: error.class.to_s, message: message_of(error),
              frames: frames, library_frames: [all - frames.length, 0].max, causes: causes)
      end

      # Ruby adds suggestions and the source to the message of its own errors; assertions have several lines.
      def message_of(error)
        text = error.respond_to?(:original_message) ? error.original_message : error.message
        text = text.to_s.scrub
        own = error.is_a?(NameError) || error.is_a?(KeyError) || error.is_a?(SyntaxError)
        text = text.lines.first.to_s.chomp if own
        text.strip[0, 2000]
      rescue StandardError
        ""
      end
    end

    # Tests of minitest: each failure with the test it belongs to.
    module Minitest
      def run(...)
        result = super
        test = "#{self.class}##{name}"
        failures.each do |failure|
          next if defined?(::Minitest::Skip) && failure.is_a?(::Minitest::Skip)
          error = failure.respond_to?(:error) && failure.error ? failure.error : failure
          StepwellRecorder.record(error, how: "test", test: test)
        end
        result
      end
    end

    # Tests of RSpec. One with several failures has an error for each.
    module RSpec
      def run(...)
        result = super
        error = execution_result.exception
        if error && execution_result.status == :failed
          errors = error.respond_to?(:all_exceptions) ? error.all_exceptions : [error]
          test = "#{full_description} (#{location_rerun_argument})"
          errors.each { |one| StepwellRecorder.record(one, how: "test", test: test) }
        end
        result
      end
    end

    # Runners are loaded after this; their classes are known when their bodies end.
    HOOKS = { "Minitest::Test" => Minitest, "RSpec::Core::Example" => RSpec }.freeze
    LOADED = TracePoint.new(:end) do |trace|
      hook = trace.self.is_a?(Class) && HOOKS[trace.self.name]
      trace.self.prepend(hook) if hook && !trace.self.include?(hook)
    end
  end

  StepwellRecorder.write(event: "start")
  StepwellRecorder::LOADED.enable
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
