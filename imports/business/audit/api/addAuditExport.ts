/** `/api/audit/export`: the audit trail as a file of any length. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatAuditEntries } from '../domain/auditFormats';
import type { AuditFormat } from '../domain/auditFormats';
import { oneOf } from '../../ai/domain/util/arguments';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { AuditTrail } from '../application/AuditTrail';
import type { AuditPage } from '../domain/AuditStore';
import type { Operation } from '../../ai/domain/types/Operation';
import type { Actor } from '../../ai/domain/types/Actor';
import { AUDIT_OPERATIONS } from '../application/auditOperations';
import { argumentFields } from '../../../host/argumentFields';
import { readQuery } from '../../../api/http/addOperationRoutes';
import { toActor } from '../../../api/auth/ApiPrincipal';
import type { AddEndpoint } from '../../../api/http/Endpoint';
import type { RequestContext, RouteHandler } from '../../../api/http/RequestContext';

export type ListEntries = Operation<AuditPage>;

/** Entries that are read at a time. */
const PAGE_SIZE = 200;

const AUDIT_FIELDS = argumentFields(AUDIT_OPERATIONS[0].argument);

export function addAuditExport(
  add: AddEndpoint,
  list: ListEntries | undefined,
  audit: Pick<AuditTrail, 'carryOut'> | undefined,
): void {
  if (list === undefined) return;
  add('app', '/api/audit/export', '/api/audit/export', {
    method: 'get',
    scope: 'read',
    handler: exportEntries(list, audit),
  });
}

/** `?format=ndjson` (default) or `csv`, and the filter of the list: oldest first, as an attachment. */
function exportEntries(list: ListEntries, audit: Pick<AuditTrail, 'carryOut'> | undefined): RouteHandler {
  return async (context) => {
    const { request, principal } = context;
    const actor = toActor(principal);
    const { format: given, ...filter } = readQuery(AUDIT_FIELDS, request.query);
    const format = oneOf(['ndjson', 'csv'])(given ?? 'ndjson', 'format');
    const read = (after?: string): Promise<AuditPage> =>
      list(actor, { ...filter, order: 'asc', limit: PAGE_SIZE, count: false, ...omitUndefined({ after }) });
    // What is not permitted or invalid is refused before the file begins.
    const first = await read();
    if (request.method === 'HEAD') await send(context, format, first, undefined);
    else await recorded(audit, actor, format, () => send(context, format, first, read));
  };
}

function recorded(
  audit: Pick<AuditTrail, 'carryOut'> | undefined,
  actor: Actor,
  format: AuditFormat,
  run: () => Promise<void>,
): Promise<void> {
  if (audit === undefined) return run();
  return audit.carryOut(actor, { action: 'audit.export', subject: { kind: 'audit' }, details: { format } }, run);
}

const CONTENT_TYPES: Readonly<Record<AuditFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

/** @param read absent: only the headers are sent */
async function send(
  { response, signal }: RequestContext,
  format: AuditFormat,
  first: AuditPage,
  read: ((after: string) => Promise<AuditPage>) | undefined,
): Promise<void> {
  response.set({
    'content-type': CONTENT_TYPES[format],
    'content-disposition': `attachment; filename="audit.${format}"`,
  });
  if (read === undefined) response.end();
  // After an error, the connection is cut: a file that is incomplete must not look complete.
  else await pipeline(Readable.from(textsOf(format, first, read)), response, { signal });
}

async function* textsOf(
  format: AuditFormat,
  first: AuditPage,
  read: (after: string) => Promise<AuditPage>,
): AsyncGenerator<string> {
  yield formatAuditEntries(format, first.entries, { isFirst: true });
  for (let { next } = first; next !== undefined;) {
    const page = await read(next);
    yield formatAuditEntries(format, page.entries, { isFirst: false });
    ({ next } = page);
  }
}
