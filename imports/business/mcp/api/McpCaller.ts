/** Who calls a tool over MCP: what the tools and the protocol's server need to know of a request. */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Actor } from '../../ai/domain/types/Actor';
import { hasScope, toActor } from '../../../api/auth/ApiPrincipal';
import type { ApiPrincipal } from '../../../api/auth/ApiPrincipal';

export interface McpCaller {
  readonly principal: ApiPrincipal;
  readonly actor: Actor;
  /** Whether the caller may read runs. */
  readonly mayRead: boolean;
  /** Fires when the caller disconnects, or the call is no longer wanted. */
  readonly signal: AbortSignal;
}

export function toMcpCaller(principal: ApiPrincipal, signal: AbortSignal): McpCaller {
  return { principal, actor: toActor(principal, 'mcp'), mayRead: hasScope(principal, 'read'), signal };
}

/** What the protocol's server hands through with a request over HTTP. */
export function toAuthInfo(caller: McpCaller): NonNullable<NonNullable<ServerContext['http']>['authInfo']> {
  return { token: '', clientId: caller.actor.userId, scopes: [], extra: { caller } };
}

/** The caller of a request over HTTP. Undefined over stdio, where there is one caller for the whole connection. */
export function callerIn({ http }: Pick<ServerContext, 'http'>): McpCaller | undefined {
  // Boundary: put there by `toAuthInfo`, and by nobody else.
  return http?.authInfo?.extra?.['caller'] as McpCaller | undefined;
}
