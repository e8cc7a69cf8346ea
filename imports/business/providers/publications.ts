/** Defines the Meteor publication `ai.providers`: a user's providers, updated when they or their keys change. */
import { argumentCheck } from '../ai/domain/util/argumentCheck';
import type { MeteorCheck, MeteorServer, MeteorSubscription } from '../ai/domain/interfaces/MeteorServer';
import { PROVIDERS_COLLECTION, ProvidersPublication } from './application/operations/ProvidersPublication';
import type { PublicProvider } from './domain/entities/PublicProvider';
import type { Actor } from '../ai/domain/types/Actor';

export interface ProviderPublicationPorts {
  readonly Meteor: MeteorServer;
  readonly argumentChecks?: MeteorCheck | undefined;
  readonly list: (actor: Actor) => Promise<readonly PublicProvider[]>;
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
  /** @returns unsubscribes */
  readonly onChange: (listener: () => void) => () => void;
}

export function defineProviderPublication(ports: ProviderPublicationPorts): readonly string[] {
  const { Meteor, argumentChecks, list, actorOf, onChange } = ports;
  // The publication has no options, but accepts an empty object.
  const checkArgument = argumentCheck(argumentChecks, (Match) => Match.Maybe({}));
  Meteor.publish('ai.providers', async function (this: MeteorSubscription, argument?: unknown) {
    checkArgument(argument);
    this.unblock();
    const { userId } = this;
    if (userId === null) return [];
    const publication = new ProvidersPublication({
      list,
      findActor: () => actorOf(userId),
      sink: {
        added: (id, fields) => this.added(PROVIDERS_COLLECTION, id, { ...fields }),
        changed: (id, fields) => this.changed(PROVIDERS_COLLECTION, id, { ...fields }),
        removed: (id) => this.removed(PROVIDERS_COLLECTION, id),
        ready: () => this.ready(),
      },
    });
    const stop = onChange(
      () =>
        void publication
          .refresh()
          .catch((error: unknown) =>
            this.error(error instanceof Error ? error : new Error('The providers could not be listed.')),
          ),
    );
    this.onStop(() => {
      stop();
      publication.stop();
    });
    await publication.start();
    // The documents are sent by the publication itself, not by a cursor.
    return undefined;
  } as never);
  return ['ai.providers'];
}
