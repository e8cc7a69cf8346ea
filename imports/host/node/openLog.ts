/** The log of a plain-Node server: lines of JSON by pino, or the console's plain lines. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { setLogWriter } from '../../log/logWriter';
import { toLogRecord } from '../../business/ai/infrastructure/telemetry/logRecord';
import { readSettings } from '../settings/defineSettings';
import { settingSource } from '../settings/environment';
import type { Environment } from '../settings/environment';
import { logSettings } from '../settings/nodeSettings';

export interface OpenLogOptions {
  readonly env: Environment;
  /** Whether a person reads the lines. */
  readonly isTerminal: boolean;
  /** Where lines of JSON go. Default: standard error. */
  readonly destination?: { write(line: string): void };
}

/**
 * LOG_FORMAT (`json` or `pretty`; default `pretty` in a terminal and without pino, else `json`). Which lines are
 * written is decided by LOG_LEVEL.
 * @returns restores the log of before
 * @throws LLMInvalidRequestError for another format, and for `json` without pino
 */
export async function openLog({ env, isTerminal, destination }: OpenLogOptions): Promise<() => void> {
  const { logFormat: asked } = readSettings(logSettings, settingSource(env));
  if (asked === 'pretty' || (asked === undefined && isTerminal)) return () => undefined;
  const pino = await loadPino();
  if (pino === undefined) {
    if (asked === undefined) return () => undefined;
    throw new LLMInvalidRequestError('LOG_FORMAT=json needs the package pino. Run: npm install pino.', {
      path: 'LOG_FORMAT',
    });
  }
  const logger = pino(
    {
      base: { pid: process.pid },
      // Filtered before.
      level: 'debug',
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are fields already.
      serializers: { err: (error: unknown) => error },
      formatters: { level: (level) => ({ level }) },
    },
    // Written at once, so that the last lines of a process that ends are not lost.
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
  return setLogWriter((line) => logger[line.level](toLogRecord(line)));
}

async function loadPino(): Promise<typeof import('pino').default | undefined> {
  try {
    return (await import('pino')).default;
  } catch (error) {
    if (error instanceof Error && 'code' in error && /MODULE_NOT_FOUND/.test(String(error.code))) return undefined;
    throw error;
  }
}
