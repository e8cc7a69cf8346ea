/** Who calls a Meteor method, and from where. */
import { actorClient } from './domain/types/ActorClient';
import type { Actor } from './domain/types/Actor';
import type { MeteorInvocation } from './domain/interfaces/MeteorServer';

const ANONYMOUS: Actor = { userId: '', source: 'method' };

/** @param actorOf loads a user's rights; undefined for a user who no longer exists */
export async function callerOf(
  { userId, connection }: Pick<MeteorInvocation, 'userId' | 'connection'>,
  actorOf: (userId: string) => Promise<Actor | undefined>,
): Promise<Actor> {
  const actor = userId === null ? ANONYMOUS : ((await actorOf(userId)) ?? ANONYMOUS);
  if (connection === undefined || connection === null) return actor;
  return { ...actor, client: actorClient(connection.clientAddress, connection.httpHeaders?.['user-agent']) };
}
