/** `/user-data`: users export and delete their own data, admins anybody's. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { UserDataOperations } from '../../business/ai/application/operations/UserDataOperations';
import { LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import type { UserDataPage } from '../../business/ai/domain/types/UserDataPage';
import { isAccountManager, toActor } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import type { AddEndpoint, Endpoint } from '../http/Endpoint';
import type { RouteHandler } from '../http/RequestContext';

export function addUserDataRoutes(
  add: AddEndpoint,
  { 'ai.users.deleteData': deleteData, 'ai.users.exportData': exportData }: Partial<UserDataOperations>,
): readonly string[] {
  const endpoints: readonly Endpoint[] = [
    ...(exportData === undefined
      ? []
      : [{ method: 'get', scope: 'read', handler: exportUserData(exportData) } as const]),
    ...(deleteData === undefined
      ? []
      : [{ method: 'delete', scope: 'generate', handler: deleteUserData(deleteData), isUncancellable: true } as const]),
  ];
  if (endpoints.length === 0) return [];
  add('app', '/user-data/:userId', '/user-data/:userId', ...endpoints);
  return ['/user-data'];
}

/** Responds with `{ deleted }`: the numbers of documents by kind. */
function deleteUserData(deleteData: UserDataOperations['ai.users.deleteData']): RouteHandler {
  return async ({ principal, request, response }) => {
    assertManager(principal, 'Deleting');
    const { userId } = request.params;
    response.json(await deleteData(toActor(principal), { userId }));
  };
}

/** Responds with a JSON object per line, as an attachment of any length. */
function exportUserData(exportData: UserDataOperations['ai.users.exportData']): RouteHandler {
  return async ({ principal, request, response, signal }) => {
    assertManager(principal, 'Exporting');
    const { userId } = request.params;
    const read = (after?: string): Promise<UserDataPage> =>
      exportData(toActor(principal), { userId, ...(after === undefined ? {} : { after }) });
    // What is not permitted is refused before the file begins.
    const first = await read();
    response.set({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="user-data.ndjson"',
    });
    if (request.method === 'HEAD') response.end();
    // After an error, the connection is cut: a file that is incomplete must not look complete.
    else await pipeline(Readable.from(textsOf(first, read), { highWaterMark: 1 }), response, { signal });
  };
}

async function* textsOf(first: UserDataPage, read: (after: string) => Promise<UserDataPage>): AsyncGenerator<string> {
  for (let page = first; ; page = await read(page.next)) {
    yield page.lines.map((line) => `${line}\n`).join('');
    if (page.next === undefined) return;
  }
}

/** A leaked API token must not be enough. */
function assertManager(principal: ApiPrincipal, act: string): void {
  if (!isAccountManager(principal)) throw new LLMPermissionError(`${act} data requires a login or the scope "admin".`);
}
