/** The names of users, for admins. Everybody else sees ids, and asks the server for nothing. */
import { useEffect, useSyncExternalStore } from 'react';
import { useIsAdmin } from '../components/useIsAdmin';
import type { DashboardData } from '../data/DashboardData';
import { UserNames } from '../data/UserNames';
import { useData } from './BolideProvider';

const stores = new WeakMap<DashboardData, UserNames>();

/** @returns a function that returns the name of one of these users, or undefined */
export function useUserNames(userIds: readonly string[]): (userId: string) => string | undefined {
  const isAdmin = useIsAdmin();
  const names = storeOf(useData().source);
  useSyncExternalStore(names.subscribe, () => names.version);
  useEffect(() => {
    if (isAdmin) names.ask(userIds);
  });
  return (userId) => (isAdmin ? names.nameOf(userId) : undefined);
}

/** @param userId '' for none */
export function useUserName(userId: string): string | undefined {
  const isAdmin = useIsAdmin();
  const names = storeOf(useData().source);
  const name = useSyncExternalStore(names.subscribe, () => names.nameOf(userId));
  useEffect(() => {
    if (isAdmin) names.ask([userId]);
  }, [isAdmin, names, userId]);
  return isAdmin ? name : undefined;
}

function storeOf(data: DashboardData): UserNames {
  let names = stores.get(data);
  if (names === undefined) {
    names = new UserNames(async (userIds) => (await data.call('ai.users.names', { userIds: [...userIds] })).names);
    stores.set(data, names);
  }
  return names;
}
