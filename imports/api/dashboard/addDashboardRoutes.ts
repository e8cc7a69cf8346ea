/** Adds the routes that a dashboard needs without DDP: the page and the session, if the host provides them. */
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { AuditRecorder } from '../../business/ai/domain/interfaces/AuditRecorder';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
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
import { addSignInRoutes } from '../signIn/signInRoutes';

export interface DashboardRoutePorts {
  readonly dashboard?: DashboardPagePorts;
  readonly authFailures: AuthFailureLimiter;
  readonly audit?: AuditRecorder;
  readonly forwardedCount: number;
  readonly logger: Logger;
}

export function addDashboardRoutes(add: AddEndpoint, ports: DashboardRoutePorts): void {
  const { dashboard, authFailures, audit, forwardedCount } = ports;
  if (dashboard === undefined) return;
  const signIns = omitUndefined({ ...dashboard, authFailures, forwardedCount, audit });
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
