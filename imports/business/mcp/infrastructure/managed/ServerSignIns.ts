/** Which users may sign in at which servers, and what follows for the connections of all processes. */
import type { StoredMcpServer } from '../../domain/McpServer';
import { LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { McpAccounts } from '../../domain/McpAccounts';
import type { McpAccountUser, McpSignIns } from '../../domain/McpSignIns';
import type { McpServerStore } from '../../domain/McpServerStore';
import type { User } from '../../../ai/domain/types/Actor';
import type { McpAccountView } from '../../domain/McpViews';
import type { McpSource } from '../McpSource';
import type { ManagedMcpServers } from './ManagedMcpServers';
import type { ServerAccounts } from './ServerAccounts';

export interface ServerSignInsPorts {
  readonly servers: ManagedMcpServers;
  /** The servers of the settings, by name: they hide stored ones of the same name. */
  readonly configured: ReadonlyMap<string, StoredMcpServer>;
  /** How one of the settings is connected. */
  readonly sourceOf: (name: string) => McpSource | undefined;
  readonly store: McpServerStore;
  readonly accounts: McpAccounts;
  readonly serverAccounts: ServerAccounts;
  readonly findUser: (userId: string) => Promise<Pick<User, 'isAdmin'> | undefined>;
  /** @returns the URL of a page that begins a sign-in */
  readonly connect: (userId: string, name: string) => Promise<string>;
  readonly onChange: () => void;
}

export class ServerSignIns implements McpSignIns {
  /** Keeps the ids of MCP servers apart from others in the same store. */
  readonly kind = 'mcp';
  private readonly ports: ServerSignInsPorts;

  constructor(ports: ServerSignInsPorts) {
    this.ports = ports;
  }

  async list({ userId, isAdmin }: McpAccountUser): Promise<readonly McpAccountView[]> {
    const { servers, configured, accounts, serverAccounts } = this.ports;
    await servers.refresh();
    const [own, shared] = [await accounts.signedInAt(userId), await accounts.signedInAt(null)];
    const added = servers.all().flatMap(({ stored }) => (configured.has(stored.name) ? [] : [stored]));
    const views = [...configured.values(), ...added]
      .filter((server) => server.enabled && permits(server, isAdmin))
      .map(async (server): Promise<readonly McpAccountView[]> => {
        const { name, config } = server;
        const { url, oauth } = config;
        if (oauth === undefined || url === undefined) return [];
        const view = { name, origin: new URL(url).origin, accounts: oauth.accounts };
        const signedInAt = (oauth.accounts === 'shared' ? shared : own).get(name);
        if (signedInAt === undefined) return [view];
        const missingScope = await serverAccounts.missingScope(server, userId);
        return [omitUndefined({ ...view, signedInAt, missingScope })];
      });
    return (await Promise.all(views)).flat().sort(({ name: left }, { name: right }) => (left < right ? -1 : 1));
  }

  async signIn(name: string, user: McpAccountUser): Promise<string> {
    await this.permitted(name, user);
    return this.ports.connect(user.userId, name);
  }

  async signOut(name: string, user: McpAccountUser): Promise<boolean> {
    const server = await this.permitted(name, user);
    const account = await this.ports.serverAccounts.signOut(server, user.userId);
    if (account !== undefined) await this.changed(server, user.userId);
    return account !== undefined;
  }

  async find(name: string, userId: string): Promise<{ readonly name: string } | undefined> {
    const server = await this.server(name);
    return server?.enabled === true && permits(server, await this.isAdmin(userId)) ? { name } : undefined;
  }

  async begin(name: string, userId: string): Promise<{ readonly url: URL; readonly attempt: string }> {
    const server = await this.permitted(name, { userId, isAdmin: await this.isAdmin(userId) });
    const { url, attempt } = await this.ports.serverAccounts.begin(server, userId);
    return { url, attempt: JSON.stringify({ attempt, connection: server.connection } satisfies Attempt) };
  }

  async finish(name: string, userId: string, begun: string, parameters: URLSearchParams): Promise<boolean> {
    const isAdmin = await this.isAdmin(userId);
    const server = await this.permitted(name, { userId, isAdmin });
    // `begin` has written it.
    const { attempt, connection } = JSON.parse(begun) as Attempt;
    if (server.connection !== connection) return false;
    const isStored = await this.ports.serverAccounts.finish(server, { userId, isAdmin }, attempt, parameters, () =>
      this.server(name),
    );
    if (isStored) await this.changed(server, userId);
    return isStored;
  }

  private async server(name: string): Promise<StoredMcpServer | undefined> {
    return this.ports.configured.get(name) ?? (await this.ports.store.find(name));
  }

  private async permitted(name: string, { isAdmin }: McpAccountUser): Promise<StoredMcpServer> {
    const server = await this.server(name);
    if (server?.enabled === true && permits(server, isAdmin)) return server;
    throw new LLMPermissionError(`There is no sign-in for you at the MCP server "${name}".`);
  }

  private async isAdmin(userId: string): Promise<boolean> {
    return (await this.ports.findUser(userId))?.isAdmin === true;
  }

  /** Every process lists the tools again, with the account that there is now. */
  private async changed({ name }: StoredMcpServer, userId: string): Promise<void> {
    const { servers, store, configured, sourceOf, onChange } = this.ports;
    if (configured.has(name)) {
      const source = sourceOf(name);
      source?.forgetUser(userId);
      source?.notify();
      onChange();
      return;
    }
    servers.find(name)?.open?.source.forgetUser(userId);
    await store.touch(name);
    await servers.refresh();
    onChange();
  }
}

interface Attempt {
  readonly attempt: string;
  /** The server's `connection` when the sign-in began. */
  readonly connection: string;
}

/** An account that all share is the admins' to sign in to. */
function permits({ config }: StoredMcpServer, isAdmin: boolean): boolean {
  return config.oauth !== undefined && (isAdmin || config.oauth.accounts === 'user');
}
