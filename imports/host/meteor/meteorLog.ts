/** Writes the log with Meteor's own package, so that its lines look like those of the app. */
import { setLogWriter } from '../../business/ai/domain/logWriter';
import { toLogRecord } from '../../business/ai/infrastructure/telemetry/logRecord';
import { installedPackage } from './installedPackage';

/** `import { Log } from 'meteor/logging'` https://docs.meteor.com/packages/logging.html */
type MeteorLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (line: Readonly<Record<string, unknown>>) => void>
>;

/** Without the package, lines go to the console. */
export function useMeteorLog(): void {
  const { Log } = (installedPackage('logging') ?? {}) as { readonly Log?: MeteorLog };
  if (Log === undefined) return;
  setLogWriter((line) => {
    const { msg, ...fields } = toLogRecord(line);
    Log[line.level]({ ...fields, message: msg });
  });
}
