//! Debug configurations as VS Code resolves them: launch.json, tasks.json, and targets named without either.
