/** `GET /user-data/:userId`: a file of any length. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { UserDataPage } from '../domain/UserDataPage';
import { toActor } from '../../../api/auth/ApiPrincipal';
import type { OperationHandler } from '../../../api/http/addOperationRoutes';

/** Responds with a JSON object per line, as an attachment. */
export const exportUserData: OperationHandler<UserDataPage> =
  (exportData, readArgument) =>
  async ({ principal, request, response, signal }) => {
    const actor = toActor(principal);
    const argument = readArgument(request);
    // What is not permitted is refused before the file begins.
    const first = await exportData(actor, argument);
    response.set({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="user-data.ndjson"',
    });
    const read = (after: string): Promise<UserDataPage> => exportData(actor, { ...argument, after });
    if (request.method === 'HEAD') response.end();
    // After an error, the connection is cut: a file that is incomplete must not look complete.
    else await pipeline(Readable.from(textsOf(first, read), { highWaterMark: 1 }), response, { signal });
  };

async function* textsOf(first: UserDataPage, read: (after: string) => Promise<UserDataPage>): AsyncGenerator<string> {
  for (let page = first; ; page = await read(page.next)) {
    yield page.lines.map((line) => `${line}\n`).join('');
    if (page.next === undefined) return;
  }
}
