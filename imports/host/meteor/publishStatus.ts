/** Publishes `ai.status` to everyone, signed in or not: it states whether responses are simulated. */
import { argumentCheck } from '../../business/ai/domain/argumentCheck';
import type { MeteorCheck, MeteorServer, MeteorSubscription } from '../../business/ai/domain/interfaces/MeteorServer';

export const STATUS_COLLECTION = 'ai_status';

export interface StatusPublicationPorts {
  readonly Meteor: MeteorServer;
  readonly argumentChecks?: MeteorCheck | undefined;
  /** Undefined if models write the responses. */
  readonly simulationNotice: string | undefined;
}

/** @returns the publication's name */
export function publishStatus({ Meteor, argumentChecks, simulationNotice }: StatusPublicationPorts): string {
  // The publication has no options, but accepts an empty object.
  const checkArgument = argumentCheck(argumentChecks, (Match) => Match.Maybe({}));
  Meteor.publish('ai.status', function (this: MeteorSubscription, argument?: unknown) {
    checkArgument(argument);
    if (simulationNotice !== undefined) this.added(STATUS_COLLECTION, 'status', { simulationNotice });
    this.ready();
    return undefined;
  } as never);
  return 'ai.status';
}
