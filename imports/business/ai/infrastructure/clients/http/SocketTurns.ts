/**
 * Gives users a fair share of the sockets to one host: while requests wait, the next socket goes to the user who has
 * the fewest, and among those who have as few, to each in turn.
 */

/** Ends the use of a socket. Only the first call has an effect. */
export type ReleaseSocket = () => void;

type Start = (release: ReleaseSocket) => void;

/** Has a socket, or waits for one. */
interface User {
  sockets: number;
  readonly waiting: Start[];
}

interface Host {
  readonly name: string;
  sockets: number;
  /** In the order in which they came, or had their last turn. */
  readonly users: Map<string, User>;
}

/** Requests that belong to no user share the sockets of one. */
const NOBODY = '';

export class SocketTurns {
  private readonly maxSockets: number;
  private readonly hosts = new Map<string, Host>();

  /** @param maxSockets of one host */
  constructor(maxSockets: number) {
    this.maxSockets = maxSockets;
  }

  /** @returns undefined if all sockets are in use */
  takeFree(hostName: string, userId = NOBODY): ReleaseSocket | undefined {
    const host = this.hostOf(hostName);
    return host.sockets < this.maxSockets ? this.use(host, userId) : undefined;
  }

  /**
   * Waits for the user's turn, while all sockets are in use.
   * @throws the signal's reason
   */
  wait(hostName: string, userId = NOBODY, signal: AbortSignal): Promise<ReleaseSocket> {
    signal.throwIfAborted();
    const { waiting } = userOf(this.hostOf(hostName), userId);
    return new Promise((resolve, reject) => {
      const start: Start = (release) => {
        signal.removeEventListener('abort', leave);
        resolve(release);
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(start);
    });
  }

  private use(host: Host, userId: string): ReleaseSocket {
    const user = userOf(host, userId);
    host.sockets += 1;
    user.sockets += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      host.sockets -= 1;
      user.sockets -= 1;
      this.startNext(host);
    };
  }

  private startNext(host: Host): void {
    let next: string | undefined;
    let fewest = Infinity;
    for (const [userId, { waiting, sockets }] of host.users)
      if (waiting.length > 0 && sockets < fewest) [next, fewest] = [userId, sockets];
      else if (waiting.length === 0 && sockets === 0) host.users.delete(userId);
    if (next === undefined) {
      if (host.sockets === 0) this.hosts.delete(host.name);
      return;
    }
    const user = userOf(host, next);
    // The others come first now, as long as they have as few sockets.
    host.users.delete(next);
    host.users.set(next, user);
    user.waiting.shift()?.(this.use(host, next));
  }

  private hostOf(name: string): Host {
    const existing = this.hosts.get(name);
    if (existing !== undefined) return existing;
    const host = { name, sockets: 0, users: new Map<string, User>() };
    this.hosts.set(name, host);
    return host;
  }
}

function userOf(host: Host, userId: string): User {
  const existing = host.users.get(userId);
  if (existing !== undefined) return existing;
  const user = { sockets: 0, waiting: [] };
  host.users.set(userId, user);
  return user;
}
