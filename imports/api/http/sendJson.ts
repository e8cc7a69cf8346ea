/** Sends JSON that nobody caches, such as the answer to a POST. Express's `json` would hash it for an ETag. */
import type { HttpResponse } from './HttpMessages';

export function sendJson(response: HttpResponse, body: unknown): void {
  sendJsonText(response, JSON.stringify(body));
}

export function sendJsonText(response: HttpResponse, json: string): void {
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', Buffer.byteLength(json));
  response.end(json);
}
