/** From where a request comes, for the audit trail. */
import type { IncomingMessage } from 'node:http';
import { actorClient } from '../../business/ai/domain/types/ActorClient';
import type { ActorClient } from '../../business/ai/domain/types/ActorClient';
import { clientAddress } from './clientNetwork';
import { presentedToken } from './presentedToken';

/** @param forwardedCount how many proxies in front of the server append to `x-forwarded-for` */
export function clientOf(request: IncomingMessage, forwardedCount: number): ActorClient {
  const { headers } = request;
  // Without a token, the cookie of a session has authenticated the request.
  const hasSession = headers.cookie !== undefined && presentedToken(request) === undefined;
  return actorClient(clientAddress(request, forwardedCount), headers['user-agent'], hasSession);
}
