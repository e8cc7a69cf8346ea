/** Adds the routes that a dashboard needs without DDP: page, session and providers, each if the host provides it. */
import type { UserLookup } from '../../business/ai/domain/types/Actor';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { AuditTrail } from '../../business/ai/application/services/AuditTrail';
import type { Scope } from '../auth/ApiPrincipal';
import type { AuthFailureLimiter } from '../auth/AuthFailureLimiter';
import type { AddEndpoint } from '../http/Endpoint';
import {
  admitSignIn,
  closeSession,
  MAX_SIGN_IN_BYTES,
  openSession,
  readSession,
  serveFile,
  servePage,
} from './dashboardPages';
import type { DashboardPagePorts } from './dashboardPages';
import {
  actOnProvider,
  changeProvider,
  connectProvider,
  createProvider,
  listProviderModels,
  listProviders,
  listVendors,
  readHealth,
  readProvider,
  rotateKeys,
  testProvider,
} from './providerRoutes';
import { addSignInRoutes } from '../signIn/signInRoutes';
import type { ProviderOperations } from '../../business/providers/application/operations/ProviderOperations';

export interface DashboardRoutePorts {
  readonly providers?: ProviderOperations;
  readonly findUser?: UserLookup;
  readonly dashboard?: DashboardPagePorts;
  readonly authFailures: AuthFailureLimiter;
  readonly audit?: AuditTrail;
  readonly forwardedCount: number;
  readonly logger: Logger;
}

/** @returns the path prefixes whose remaining paths are to get 404 */
export function addDashboardRoutes(add: AddEndpoint, ports: DashboardRoutePorts): readonly string[] {
  const { providers, dashboard, authFailures, audit, forwardedCount } = ports;
  const paths: string[] = [];
  if (providers !== undefined) {
    const { findUser } = ports;
    const own = { providers, ...(findUser === undefined ? {} : { findUser }) };
    const act = (path: string, scope: Scope, handler: ReturnType<typeof listProviders>, readsBody = false): void =>
      add('app', path, path, { method: 'post', scope, handler, readsBody });
    add(
      'app',
      '/api/providers',
      '/api/providers',
      { method: 'get', scope: 'read', handler: listProviders(own) },
      { method: 'post', scope: 'admin', handler: createProvider(own) },
    );
    for (const [path, handler] of [
      ['/api/providers/vendors', listVendors(own)],
      ['/api/providers/health', readHealth(own)],
    ] as const)
      add('app', path, path, { method: 'get', scope: 'read', handler });
    add(
      'app',
      '/api/providers/:id',
      '/api/providers/:id',
      { method: 'get', scope: 'admin', handler: readProvider(own) },
      { method: 'post', scope: 'admin', handler: changeProvider(own, 'update') },
      { method: 'delete', scope: 'admin', handler: actOnProvider(own, 'remove') },
    );
    add('app', '/api/providers/:id/models', '/api/providers/:id/models', {
      method: 'get',
      scope: 'read',
      handler: listProviderModels(own),
    });
    act('/api/providers/:id/connect', 'generate', connectProvider(own));
    act('/api/providers/:id/disconnect', 'generate', actOnProvider(own, 'disconnect'));
    act('/api/providers/:id/test', 'generate', testProvider(own));
    act('/api/providers/:id/my-api-key', 'generate', changeProvider(own, 'setMyApiKey'), true);
    act('/api/providers/:id/api-key', 'admin', changeProvider(own, 'setApiKey'), true);
    act('/api/secrets/rotate', 'admin', rotateKeys(own));
    paths.push('/api/providers', '/api/secrets');
  }
  if (dashboard !== undefined) {
    const signIns = {
      ...dashboard,
      authFailures,
      forwardedCount,
      ...(audit === undefined ? {} : { audit }),
    };
    add('app', '/', '/', { method: 'get', handler: servePage(dashboard), isOwnPage: true });
    for (const path of ['/favicon.ico', '/favicon.svg'])
      add('app', path, path, { method: 'get', handler: serveFile(dashboard), isOwnPage: true });
    add('app', /^\/dashboard\/.+$/, '/dashboard/:file', {
      method: 'get',
      handler: serveFile(dashboard),
      isOwnPage: true,
    });
    add(
      'app',
      '/api/session',
      '/api/session',
      { method: 'get', scope: 'read', handler: readSession(dashboard), isOwnPage: true },
      {
        method: 'post',
        handler: openSession(signIns),
        admit: admitSignIn(signIns),
        maxBodyBytes: MAX_SIGN_IN_BYTES,
        isOwnPage: true,
      },
      { method: 'delete', handler: closeSession(signIns), isOwnPage: true },
    );
    const { openId, sessions } = dashboard;
    if (openId !== undefined) addSignInRoutes(add, { ...signIns, openId, sessions, logger: ports.logger });
  }
  return paths;
}
