/** Finds the users whom an administrator's search names. Others see no names, and nothing of other users. */
import type { Actor, UserSearch } from '../../domain/types/Actor';

export async function searchedUsers(
  { isAdmin = false }: Actor,
  search: string | undefined,
  searchUsers: UserSearch | undefined,
): Promise<readonly string[]> {
  if (!isAdmin || search === undefined || search === '' || searchUsers === undefined) return [];
  return searchUsers(search);
}
