/** What the routes of the dashboard need of a host. */
import type { AIMethods } from '../../business/ai/application/operations/RunOperations';
import type { RunQueries } from '../../business/ai/application/operations/RunQueries';
import type { Actor as AIActor } from '../../business/ai/domain/types/Actor';
import type { RunEventLog } from '../../business/ai/infrastructure/events/RunEventLog';
import { mayDo } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';

export interface RunRoutePorts {
  readonly methods: AIMethods;
  readonly queries: RunQueries;
  readonly events: RunEventLog;
}

/** Whoever has a token as the module knows them. */
export function actorOf(actor: ApiPrincipal): AIActor {
  return { userId: actor.userId, isAdmin: mayDo(actor, 'admin'), source: 'http' };
}
