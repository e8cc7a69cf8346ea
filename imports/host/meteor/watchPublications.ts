/** Notices who subscribes. */
import type { MeteorServer, MeteorSubscription } from '../../business/ai/domain/interfaces/MeteorServer';

type Handler = (this: MeteorSubscription, ...args: unknown[]) => unknown;

/**
 * @param begin called at the start of each subscription; what it returns is called at its end
 * @returns publishes the same
 */
export function watchPublications(Meteor: MeteorServer, begin: () => () => void): MeteorServer {
  return {
    Error: Meteor.Error,
    methods: (methods) => Meteor.methods(methods),
    publish(name, handler) {
      Meteor.publish(name, function (this: MeteorSubscription, ...args: unknown[]) {
        this.onStop(begin());
        return (handler as Handler).apply(this, args);
      } as never);
    },
  };
}
