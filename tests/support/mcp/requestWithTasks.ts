/** Requests of a client of the revision 2026-07-28 that knows tasks, which the official one does not. */
import { fieldsOf } from '../../../imports/business/ai/domain/util/json';

type Params = Readonly<Record<string, unknown>>;

/** @returns the result, or the text of the error */
export async function requestWithTasks(
  { url, token }: { readonly url: string; readonly token: string },
  method: string,
  params: Params,
): Promise<unknown> {
  const { headers, body } = taskRequest(method, params);
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return taskResult(response);
}

export function taskRequest(
  method: string,
  params: Params,
): { readonly headers: Readonly<Record<string, string>>; readonly body: object } {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  };
  return {
    headers: {
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
      ...{ 'mcp-method': method, 'mcp-name': String(params['name'] ?? params['taskId']) },
    },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  };
}

/** @returns the result, or the text of the error */
export async function taskResult(response: Response): Promise<unknown> {
  const text = await response.text();
  const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}');
  const { result, error } = fieldsOf(JSON.parse(json));
  return result ?? String(fieldsOf(error)['message']);
}
