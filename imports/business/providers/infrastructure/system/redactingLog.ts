/** The only way from the provider system to logs: redacts everything in string fields that looks like a secret. */
import { redactSecrets } from '../../../ai/domain/errors/safeText';
import { currentLogWriter } from '../../../../log/logWriter';
import { createLogFilter } from '../../../../log/logLevels';
import type { LogEnvironment } from '../../../../log/logLevels';
import type { EventLog, LogFields } from '../../domain/interfaces/EventLog';

export interface LogEntry {
  readonly level: 'info' | 'warn';
  readonly event: string;
  readonly fields: LogFields;
}

/** In UTF-16 code units. */
const MAX_FIELD_LENGTH = 300;

/** @param write receives redacted entries */
export function redactingLog(write: (entry: LogEntry) => void): EventLog {
  const log =
    (level: LogEntry['level']) =>
    (event: string, fields: LogFields = {}): void =>
      write({ level, event, fields: redacted(fields) });
  return { info: log('info'), warn: log('warn') };
}

/** Writes one line of JSON per entry to standard error, filtered as `createLogFilter` says. */
export function createConsoleLog(readEnvironment?: () => LogEnvironment): EventLog {
  const logs = createLogFilter(readEnvironment);
  return redactingLog(({ level, event, fields }) => {
    if (!logs(level)) return;
    const writer = currentLogWriter();
    if (writer === undefined) console.error(JSON.stringify({ level, event, ...fields }));
    else writer({ level, message: event, details: Object.keys(fields).length === 0 ? [] : [fields] });
  });
}

export const consoleLog: EventLog = createConsoleLog();

function redacted(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? safeField(value) : value]),
  );
}

function safeField(text: string): string {
  const safe = redactSecrets(text)
    .replace(OPAQUE_TOKEN, '[redacted]')
    .replace(/\p{Cc}/gu, ' ');
  return safe.length <= MAX_FIELD_LENGTH ? safe : `${safe.slice(0, MAX_FIELD_LENGTH).toWellFormed()}…`;
}

/** Codes, states and tokens of authorization servers have no prefix; they are long, with digits and both cases. */
const OPAQUE_TOKEN = /(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{24,}/g;
