// Writes every test of `node --test` as a line of JSON. Suites are named in their tests.
export default async function* report(source) {
  const names = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      names.length = data.nesting;
      names[data.nesting] = data.name;
      continue;
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details?.type === 'suite') continue;
    const above = names.slice(0, data.nesting).filter((name) => name !== undefined);
    const error = data.details?.error;
    const cause = error?.cause ?? error;
    const skipped = data.skip !== undefined && data.skip !== false;
    const row = {
      name: [...above, data.name].join(' > '),
      own: data.name,
      status: skipped ? 'skipped' : type === 'test:pass' || data.todo !== undefined ? 'passed' : 'failed',
      reason: typeof data.skip === 'string' ? data.skip : '',
      file: data.file,
      line: data.line,
      ms: Math.round(data.details?.duration_ms ?? 0),
      message: error ? String(cause?.message ?? cause) : '',
      stack: error ? String(cause?.stack ?? '') : '',
    };
    yield JSON.stringify(row) + '\n';
  }
}
