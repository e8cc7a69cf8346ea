/** Whether the signed-in user is an admin; false until that is known. The server decides in any case. */
import { useData } from '../hooks/BolideProvider';

export function useIsAdmin(): boolean {
  const me = useData().useQuery('ai.users.me', {});
  return me.state === 'ready' && me.value.isAdmin;
}
