/** Sends JSON that nobody caches, such as the answer to a POST. `response.json` would hash it for an ETag. */
import type { Response } from 'express';

export function sendJson(response: Response, body: unknown): void {
  sendJsonText(response, JSON.stringify(body));
}

export function sendJsonText(response: Response, json: string): void {
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', Buffer.byteLength(json));
  response.end(json);
}
