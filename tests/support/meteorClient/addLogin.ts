/**
 * `login` and `logout` of accounts-base for the users of `startMeteorApp`: by password or by a token of an earlier
 * login. The user document is sent before the method's result.
 */
import { check, Match } from '../../stubs/meteor/check';
import { MeteorError } from '../../stubs/server/MeteorError';
import type { MethodContext } from '../../stubs/server/contexts';
import { DdpSession } from '../../stubs/server/DdpSession';
import { registry } from '../../stubs/server/registry';

export const PASSWORD = 'correct horse';

export interface LoginOptions {
  /** Resolves when a login may proceed. */
  readonly gate?: () => Promise<void>;
}

export function addLogin(userIds: readonly string[], { gate }: LoginOptions = {}): void {
  registry.methods.set('login', async function (this: MethodContext, ...args: never[]) {
    const [request] = args as unknown as [
      { user?: { username?: string }; password?: string; resume?: string } | undefined,
    ];
    check(request, Match.Any);
    await gate?.();
    const userId = request?.resume?.replace(/^token-of-/, '') ?? request?.user?.username ?? '';
    const isAllowed = request?.resume === `token-of-${userId}` || request?.password === PASSWORD;
    if (!isAllowed || !userIds.includes(userId))
      throw new MeteorError(403, 'Something went wrong. Please check your credentials.');
    await this.setUserId(userId);
    const session = [...registry.sessions].find(
      (one): one is DdpSession => one instanceof DdpSession && one.connection === this.connection,
    );
    session?.view.added('current-user', 'users', userId, { username: userId });
    return { id: userId, token: `token-of-${userId}` };
  });
  registry.methods.set('logout', async function (this: MethodContext) {
    await this.setUserId(null);
  });
}
