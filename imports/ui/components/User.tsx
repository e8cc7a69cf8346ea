/** A user as admins know them, by name or e-mail address; everybody else sees the id. */
import { linkTo } from '../shell/route';
import { useUserName } from '../hooks/useUserNames';
import { useIsAdmin } from './useIsAdmin';

/** Links to the user's runs, for admins. */
export function UserLink({ userId }: { readonly userId: string }) {
  const isAdmin = useIsAdmin();
  const user = <UserText userId={userId} />;
  return isAdmin ? <a href={linkTo(['runs'], { userId })}>{user}</a> : user;
}

/** Without a link: for what is in one already. */
export function UserText({ userId }: { readonly userId: string }) {
  const name = useUserName(userId);
  return <bdi title={name === undefined ? undefined : userId}>{name ?? userId}</bdi>;
}
