/** Adds the routes that stream runs in the protocols of other frameworks' front ends. */
import type { AddEndpoint } from '../http/Endpoint';
import { readChat, resumeChat, stopChat, submitChat } from './chatRoutes';
import type { ChatRoutePorts } from './chatRoutes';

/** @returns the path prefixes whose remaining paths are to get 404 */
export function addChatRoutes(add: AddEndpoint, ports: ChatRoutePorts): readonly string[] {
  add('ai_sdk', '/api/chat', '/api/chat', {
    method: 'post',
    scope: 'generate',
    stores: true,
    handler: submitChat(ports),
  });
  add('ai_sdk', '/api/chat/:id', '/api/chat/:id', { method: 'get', scope: 'read', handler: readChat(ports) });
  add('ai_sdk', '/api/chat/:id/stream', '/api/chat/:id/stream', {
    method: 'get',
    scope: 'read',
    handler: resumeChat(ports),
    holds: 'connections',
  });
  add('ai_sdk', '/api/chat/:id/stop', '/api/chat/:id/stop', {
    method: 'post',
    scope: 'generate',
    handler: stopChat(ports),
    readsBody: false,
  });
  return ['/api/chat'];
}
