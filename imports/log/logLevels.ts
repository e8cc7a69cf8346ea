/** Which lines are logged, as the environment says. */
const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

/** What other programs call these levels. */
const ALIASES: Readonly<Record<string, LogLevel>> = {
  trace: 'debug',
  verbose: 'debug',
  warning: 'warn',
  fatal: 'error',
  none: 'silent',
  off: 'silent',
};

export type LogEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `LOG_LEVEL` (default `info`) and `DEBUG` for each line, so that a program may set them after it has imported
 * this file. `DEBUG=bolide:*` logs everything. An unknown level counts as the default: other programs read the
 * variable too.
 * @returns whether lines of a level are logged
 */
export function createLogFilter(
  readEnvironment: () => LogEnvironment = processEnvironment,
): (level: LogLevel) => boolean {
  let last: { readonly environment: LogEnvironment; readonly lowest: number } | undefined;
  return (level) => {
    const { DEBUG, LOG_LEVEL } = readEnvironment();
    if (last === undefined || last.environment['DEBUG'] !== DEBUG || last.environment['LOG_LEVEL'] !== LOG_LEVEL) {
      const environment = { DEBUG, LOG_LEVEL };
      last = { environment, lowest: LEVELS.indexOf(lowestLevel(environment)) };
    }
    return LEVELS.indexOf(level) >= last.lowest;
  };
}

function lowestLevel({ DEBUG: namespaces = '', LOG_LEVEL: level = '' }: LogEnvironment): LogLevel {
  const names = namespaces.split(/[\s,]+/);
  const isExcluded = names.some((name) => /^-bolide(?:\*|:|$)/.test(name));
  if (!isExcluded && names.some((name) => name === '*' || /^bolide(?:\*|:|$)/.test(name))) return 'debug';
  const wanted = level.trim().toLowerCase();
  return LEVELS.find((each) => each === wanted) ?? ALIASES[wanted] ?? 'info';
}

/** Returns the process's environment. Browsers have none. */
function processEnvironment(): LogEnvironment {
  return typeof process === 'undefined' ? {} : process.env;
}
