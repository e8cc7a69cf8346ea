/** Wires the log of model calls: its store, and the recorder that fills it in the background. */
import { RequestRecorder } from './application/RequestRecorder';
import type { RequestLog } from './domain/RequestLog';
import type { RequestReader } from './domain/RequestReader';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { DocumentRequestList } from './infrastructure/DocumentRequestList';
import { DocumentRequestStore } from './infrastructure/DocumentRequestStore';
import type { RequestLogBounds, RequestRetention } from './infrastructure/DocumentRequestStore';
import { omitUndefined } from '../ai/domain/util/omitUndefined';

export interface RequestLogSettings {
  /** Default: true. */
  readonly isEnabled?: boolean;
  /** Also logs what was sent and received. Default: false. */
  readonly bodies?: boolean;
  readonly retention?: Partial<RequestRetention>;
  /** The most entries. Default: what fits into memory in the embedded database, no bound in MongoDB. */
  readonly maxEntries?: number;
}

export interface RequestLogPorts {
  readonly database: Pick<DocumentDatabase, 'collection'>;
  /** Called when entries of the user have been stored. */
  readonly onStored?: (userId: string) => void;
  /** Used where the settings leave them open. Default: none for entries. */
  readonly bounds?: RequestLogBounds;
}

export interface RequestLogModule {
  readonly requests: RequestReader;
  /** Bodies of new calls are logged. */
  readonly logsBodies: boolean;
  /** Absent if calls are not logged. */
  readonly log?: RequestLog;
  /** Creates the indexes. Safe to call again. */
  ready(): Promise<void>;
  /** Resolves when every entry so far has been stored or given up. */
  flush(): Promise<void>;
}

export function createRequestLog(
  { isEnabled = true, bodies: recordsBodies = false, retention, maxEntries }: RequestLogSettings,
  { database, onStored, bounds = {} }: RequestLogPorts,
): RequestLogModule {
  const store = new DocumentRequestStore(database, retention, { ...bounds, ...omitUndefined({ maxEntries }) });
  const log = new RequestRecorder({ store, recordsBodies, onStored });
  return {
    requests: new DocumentRequestList(database),
    logsBodies: isEnabled && recordsBodies,
    ...(isEnabled ? { log } : {}),
    ready: () => store.ready(),
    flush: () => log.flush(),
  };
}
