/** Sends JSON that nobody caches, such as the answer to a POST. `response.json` would hash it for an ETag. */
import type { Response } from 'express';

export function sendJson(response: Response, body: unknown): void {
  const json = JSON.stringify(body);
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', Buffer.byteLength(json));
  response.end(json);
}
