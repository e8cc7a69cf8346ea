/** The default logger: writes to standard error, filtered by the environment. */
import type { Logger } from './interfaces/Logger';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type Level = (typeof LEVELS)[number];

/** What other programs call these levels. */
const ALIASES: Readonly<Record<string, Level>> = {
  trace: 'debug',
  verbose: 'debug',
  warning: 'warn',
  fatal: 'error',
  none: 'silent',
  off: 'silent',
};

/** The variables that the logger reads. */
export const LOG_VARIABLES = ['LOG_LEVEL', 'DEBUG'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `LOG_LEVEL` (default `info`) and `DEBUG` for each line, so that a program may set them after it has imported
 * this file. `DEBUG=bolide:*` logs everything. An unknown level counts as the default: other programs read the
 * variable too.
 */
export function createConsoleLogger(readEnvironment: () => Environment = processEnvironment): Logger {
  let last: { readonly environment: Environment; readonly lowest: number } | undefined;
  const logs = (level: Level): boolean => {
    const { DEBUG, LOG_LEVEL } = readEnvironment();
    if (last === undefined || last.environment.DEBUG !== DEBUG || last.environment.LOG_LEVEL !== LOG_LEVEL) {
      const environment = { DEBUG, LOG_LEVEL };
      last = { environment, lowest: LEVELS.indexOf(lowestLevel(environment)) };
    }
    return LEVELS.indexOf(level) >= last.lowest;
  };
  return {
    // console.debug and console.info write to standard output, which belongs to the program.
    debug(message, ...details) {
      if (logs('debug')) console.warn(`bolide:debug ${onOneLine(message)}`, ...details.map(withoutLineBreaks));
    },
    info(message, ...details) {
      if (logs('info')) console.warn(`bolide:info ${onOneLine(message)}`, ...details.map(withoutLineBreaks));
    },
    warn(message, ...details) {
      if (logs('warn')) console.warn(onOneLine(message), ...details.map(withoutLineBreaks));
    },
    error(message, ...details) {
      if (logs('error')) console.error(onOneLine(message), ...details.map(withoutLineBreaks));
    },
  };
}

/** Messages quote vendors and users, whose line breaks must not look like further lines of the log. */
function onOneLine(message: string): string {
  return message.replace(/[\r\n\u0085\u2028\u2029]+/g, ' ');
}

/** The console writes texts and the messages of errors as they are, but escapes texts within objects. */
function withoutLineBreaks(detail: unknown): unknown {
  return typeof detail === 'string' ? onOneLine(detail) : withOneLineErrors(detail, 0);
}

/** How far causes are followed, which may be circular. */
const MAX_DEPTH = 8;
/** Errors are looked for in the fields of a detail, and in lists there. */
const DEPTH_OF_FIELDS = 3;

function withOneLineErrors(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return errorOnOneLine(value, depth);
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain || !Object.values(value).some((each) => typeof each === 'object' && each !== null)) return value;
  const entries = Object.entries(value).map(
    ([name, each]) => [name, withOneLineErrors(each, depth + DEPTH_OF_FIELDS)] as const,
  );
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

/** @returns a copy whose message is on one line, above the same lines of the stack */
function errorOnOneLine(error: Error, depth: number): Error {
  const { message, stack = '' } = error;
  const fields = Object.getOwnPropertyDescriptors(error) as Record<string, PropertyDescriptor>;
  const line = onOneLine(message);
  for (const [name, field] of Object.entries(fields))
    if (name === 'cause' || name === 'errors' || field.value instanceof Error)
      fields[name] = { ...field, value: withOneLineErrors(field.value, depth + 1) };
  fields['message'] = { value: line, enumerable: false, configurable: true, writable: true };
  fields['stack'] = {
    value: stack.startsWith(`${error.name}: ${message}`)
      ? `${error.name}: ${line}${stack.slice(`${error.name}: ${message}`.length)}`
      : stack.replace(message, () => line),
    enumerable: false,
    configurable: true,
    writable: true,
  };
  return Object.create(Object.getPrototypeOf(error) as object, fields) as Error;
}

export const consoleLogger = createConsoleLogger();

function lowestLevel({ DEBUG: namespaces = '', LOG_LEVEL: level = '' }: Environment): Level {
  const names = namespaces.split(/[\s,]+/);
  const isExcluded = names.some((name) => /^-bolide(?:\*|:|$)/.test(name));
  if (!isExcluded && names.some((name) => name === '*' || /^bolide(?:\*|:|$)/.test(name))) return 'debug';
  const wanted = level.trim().toLowerCase();
  return LEVELS.find((each) => each === wanted) ?? ALIASES[wanted] ?? 'info';
}

/** There is none in a browser. */
function processEnvironment(): Environment {
  return typeof process === 'undefined' ? {} : process.env;
}
