/** Opens the audit trail of a host, and has the host's operations recorded there. */
import { clientOf } from '../../api/auth/clientOf';
import type { OperationsOf } from '../../host/bindOperations';
import type { AnyOperation } from '../../host/defineOperation';
import type { OAuthRoutesPorts } from '../../api/oauth/oauthRoutes';
import { AuditTrail } from './application/AuditTrail';
import type { AuditReader } from './domain/AuditStore';
import type { Logger } from '../ai/domain/interfaces/Logger';
import { omitUndefined } from '../ai/domain/util/omitUndefined';
import { DocumentAuditStore } from './infrastructure/DocumentAuditStore';
import type { AuditLimits } from './infrastructure/DocumentAuditStore';
import { maxEntriesFor } from '../../database/bounds/EntryBound';
import type { AuditSubject } from '../ai/domain/types/AuditEntries';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { SYSTEM_OWNER } from '../providers/domain/entities/Provider';
import { recordOperations } from './recordOperations';

export interface OpenedAudit {
  readonly trail: AuditTrail;
  readonly entries: AuditReader;
  /** Removes what identifies the user from entries. @returns the number of changed entries */
  readonly pseudonymize: (userId: string) => Promise<number>;
  readonly recordOperations: <const D extends readonly AnyOperation[]>(
    definitions: D,
    operations: OperationsOf<D>,
  ) => OperationsOf<D>;
  /** For the app's own code, which is not signed in. */
  readonly auditDeletion: <O, R>(deletion: DeleteUserData<O, R>) => DeleteUserData<O, R>;
  /** Before the first line, for the app's own code. */
  readonly recordExport: (userId: string) => Promise<void>;
  readonly onConnected: OAuthRoutesPorts['onConnected'] & {};
  readonly onSignedInAtMcpServer: OAuthRoutesPorts['onConnected'] & {};
}

type DeleteUserData<O, R> = (userId: string, options?: O) => Promise<R>;

export interface AuditPorts {
  readonly database: Pick<DocumentDatabase, 'collection' | 'isExclusive'>;
  readonly logger: Logger;
  readonly onChange: (userId: string) => void;
  /** The user id of the run's owner, or undefined for an unknown run. */
  readonly ownerOfRun: (executionId: string) => Promise<string | undefined>;
  readonly providers: { find(providerId: string): Promise<{ readonly owner: string } | undefined> };
  /** Default number of entries: what a tenth of the heap holds in the embedded database, a million in others. */
  readonly limits?: AuditLimits;
  readonly forwardedCount: number;
}

/** The share of the heap for the entries that the embedded database has in memory. */
const SHARE_OF_HEAP = 1 / 10;
/** The most entries in other databases. */
const MAX_ENTRIES = 1_000_000;

/** Creates the indexes, too. @throws errors of the database */
export async function openAudit(ports: AuditPorts): Promise<OpenedAudit> {
  const { database, logger, onChange, ownerOfRun, providers, forwardedCount } = ports;
  const maxEntries = maxEntriesFor(database, SHARE_OF_HEAP, MAX_ENTRIES);
  const store = new DocumentAuditStore(
    database,
    { maxEntries, ...ports.limits },
    {
      onRemoved: (count) =>
        logger.warn(
          `${count} entries of the audit trail were removed, because it was full: the oldest of those who have most. ` +
            'Export it more often, or raise AUDIT_MAX_ENTRIES.',
        ),
    },
  );
  await store.ready();
  const trail = new AuditTrail({ store, logger, onChange });
  const ownerOfProvider = async (id: string): Promise<string | undefined> => {
    const owner = (await providers.find(id))?.owner;
    return owner === SYSTEM_OWNER ? undefined : owner;
  };
  const audited = { trail, ownerOf: { run: ownerOfRun, provider: ownerOfProvider } };
  return {
    trail,
    entries: store,
    pseudonymize: (userId) => store.pseudonymize(userId),
    recordOperations: (definitions, operations) => recordOperations(definitions, operations, audited),
    auditDeletion: (deleteUserData) => (userId, options) => {
      const act = { action: 'user.delete_data', subject: userSubject(userId) } as const;
      return trail.carryOut(THE_APP, act, () => deleteUserData(userId, options));
    },
    recordExport: (userId) => trail.record(THE_APP, { action: 'user.export_data', subject: userSubject(userId) }),
    onConnected: async ({ userId, providerId }, request) => {
      const ownerId = await ownerOfProvider(providerId);
      const subject = { kind: 'provider', id: providerId, ...omitUndefined({ ownerId }) } as const;
      const client = { ...clientOf(request, forwardedCount), hasSession: true } as const;
      // It cannot be undone, and its start is over.
      await trail.record({ userId, source: 'http', client }, { action: 'provider.connect', subject }, { isSafe: true });
    },
    onSignedInAtMcpServer: async ({ userId, providerId: name }, request) => {
      const client = { ...clientOf(request, forwardedCount), hasSession: true } as const;
      const subject = { kind: 'mcp_server', id: name } as const;
      await trail.record(
        { userId, source: 'http', client },
        { action: 'mcp_server.sign_in', subject },
        { isSafe: true },
      );
    },
  };
}

const THE_APP = { userId: '', source: 'job' } as const;

/** @param userId what the app's own code has passed */
function userSubject(userId: unknown): AuditSubject {
  return { kind: 'user', ...(typeof userId === 'string' && userId !== '' ? { id: userId, ownerId: userId } : {}) };
}
