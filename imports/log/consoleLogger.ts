/** The default logger: writes to standard error, or where the program has said, filtered by the environment. */
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import { createLogFilter } from './logLevels';
import type { LogEnvironment } from './logLevels';
import { currentLogWriter } from './logWriter';
import type { LogLine } from './logWriter';
import { withoutOutages } from './withoutOutages';

/** Filtered as `createLogFilter` says. */
export function createConsoleLogger(readEnvironment?: () => LogEnvironment): Logger {
  const logs = createLogFilter(readEnvironment);
  const write = (level: LogLine['level'], message: string, details: readonly unknown[]): void => {
    if (!logs(level)) return;
    const writer = currentLogWriter();
    if (writer === undefined) writeToConsole(level, message, details);
    else writer({ level, message, details });
  };
  return {
    debug: (message, ...details) => write('debug', message, details),
    info: (message, ...details) => write('info', message, details),
    warn: (message, ...details) => write('warn', message, details),
    error: (message, ...details) => write('error', message, details),
  };
}

/** console.debug and console.info write to standard output, which belongs to the program. */
function writeToConsole(level: LogLine['level'], message: string, details: readonly unknown[]): void {
  const line = onOneLine(message);
  const prefix = level === 'debug' || level === 'info' ? `bolide:${level} ` : '';
  const parts = details.map(withoutLineBreaks);
  if (level === 'error') console.error(line, ...parts);
  else console.warn(`${prefix}${line}`, ...parts);
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

export const consoleLogger = withoutOutages(createConsoleLogger());
