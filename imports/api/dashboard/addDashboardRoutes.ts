/**
 * Adds the routes that a dashboard needs without DDP: page, session, runs, tools, statistics and providers, each if the
 * host provides it.
 */
import type { UserLookup } from '../../business/ai/domain/types/Actor';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { AuditTrail } from '../../business/ai/application/services/AuditTrail';
import type { Scope } from '../auth/ApiPrincipal';
import type { AuthFailureLimiter } from '../auth/AuthFailureLimiter';
import type { TopicChanges } from '../../business/ai/infrastructure/events/TopicChanges';
import type { AddEndpoint } from '../http/Endpoint';
import type { HostOperations } from '../HostOperations';
import type { RunRoutePorts } from '../runs/RunRoutePorts';
import {
  cancelRun,
  decideCall,
  listRuns,
  listTools,
  readRun,
  resumeRun,
  readStats,
  startRun,
  signalRun,
  submitToolResult,
} from '../runs/runRoutes';
import { listRunsByPage } from '../runs/runListRoutes';
import { streamRunEvents } from '../runs/runEventStream';
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
  /** Milliseconds without an event on a stream after which a comment is sent. */
  readonly keepAliveAfter: number;
  /** Milliseconds after which a stream is ended. */
  readonly maxConnectionTime: number;
  /** Fires when the server stops. */
  readonly closing: AbortSignal;
  readonly changes?: TopicChanges;
  readonly isAlone: boolean;
  readonly runs?: RunRoutePorts;
  readonly operations?: Partial<HostOperations>;
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
  const {
    runs,
    providers,
    dashboard,
    authFailures,
    audit,
    forwardedCount,
    operations: { 'ai.runs.list': list } = {},
  } = ports;
  const paths: string[] = [];
  if (runs !== undefined) {
    const get = (path: string, handler: ReturnType<typeof listRuns>): void =>
      add('app', path, path, { method: 'get', scope: 'read', handler });
    const post = (path: string, handler: ReturnType<typeof startRun>): void =>
      add('app', path, path, { method: 'post', scope: 'generate', handler });
    add(
      'app',
      '/runs',
      '/runs',
      { method: 'get', scope: 'read', handler: list === undefined ? listRuns(runs) : listRunsByPage(list) },
      { method: 'post', scope: 'generate', handler: startRun(runs) },
    );
    add('app', '/runs/stream', '/runs/stream', {
      method: 'get',
      scope: 'read',
      handler: streamRunEvents({ ...ports, events: runs.events }),
      holds: 'connections',
    });
    get('/runs/:id', readRun(runs));
    post('/runs/:id/cancel', cancelRun(runs));
    add('app', '/runs/:id/resume', '/runs/:id/resume', { method: 'post', scope: 'approve', handler: resumeRun(runs) });
    for (const decision of ['approve', 'reject'] as const) {
      const path = `/runs/:id/${decision}`;
      add('app', path, path, { method: 'post', scope: 'approve', handler: decideCall(runs, decision) });
    }
    post('/runs/:id/tool-results', submitToolResult(runs));
    post('/runs/:id/signal', signalRun(runs));
    get('/tools', listTools(runs));
    get('/stats', readStats(runs));
    paths.push('/runs');
  }
  if (providers !== undefined) {
    const { findUser } = ports;
    const own = { providers, ...(findUser === undefined ? {} : { findUser }) };
    const act = (path: string, scope: Scope, handler: ReturnType<typeof listProviders>, readsBody = false): void =>
      add('app', path, path, { method: 'post', scope, handler, readsBody });
    add(
      'app',
      '/providers',
      '/providers',
      { method: 'get', scope: 'read', handler: listProviders(own) },
      { method: 'post', scope: 'admin', handler: createProvider(own) },
    );
    for (const [path, handler] of [
      ['/providers/vendors', listVendors(own)],
      ['/providers/health', readHealth(own)],
    ] as const)
      add('app', path, path, { method: 'get', scope: 'read', handler });
    add(
      'app',
      '/providers/:id',
      '/providers/:id',
      { method: 'get', scope: 'admin', handler: readProvider(own) },
      { method: 'post', scope: 'admin', handler: changeProvider(own, 'update') },
      { method: 'delete', scope: 'admin', handler: actOnProvider(own, 'remove') },
    );
    add('app', '/providers/:id/models', '/providers/:id/models', {
      method: 'get',
      scope: 'read',
      handler: listProviderModels(own),
    });
    act('/providers/:id/connect', 'generate', connectProvider(own));
    act('/providers/:id/disconnect', 'generate', actOnProvider(own, 'disconnect'));
    act('/providers/:id/test', 'generate', testProvider(own));
    act('/providers/:id/my-api-key', 'generate', changeProvider(own, 'setMyApiKey'), true);
    act('/providers/:id/api-key', 'admin', changeProvider(own, 'setApiKey'), true);
    act('/secrets/rotate', 'admin', rotateKeys(own));
    paths.push('/providers', '/secrets');
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
      '/session',
      '/session',
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
