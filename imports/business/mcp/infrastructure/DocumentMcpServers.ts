/**
 * MCP servers in two collections: one document per server, with what was approved by hash, and one per approved
 * definition. A server's document changes atomically, and names only definitions that were stored before.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mcpDestination } from '../domain/McpServer';
import type {
  McpServerConfig,
  McpServerSecrets,
  McpToolApproval,
  McpToolDefinition,
  StoredMcpServer,
} from '../domain/McpServer';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import type { McpServerStore } from '../domain/McpServerStore';
import type { SealedSecret, SecretSealer } from '../../ai/domain/interfaces/SecretSealer';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';

export const MCP_SERVERS = 'ai_mcp_servers';
export const MCP_DEFINITIONS = 'ai_mcp_definitions';

export interface McpServerDocument extends StoredDocument {
  readonly config: McpServerConfig;
  /** The server's headers, variables and client secret, sealed for its name and destination. */
  readonly secrets: SealedSecret;
  readonly enabled: boolean;
  readonly approvals: readonly McpToolApproval[];
  readonly revision: string;
  readonly connection: string;
  readonly changedAt: number;
  readonly changedBy?: string;
}

export interface McpDefinitionDocument extends StoredDocument {
  readonly server: string;
  readonly hash: string;
  /** JSON: names of a schema's fields may be any. */
  readonly definition: string;
}

export class DocumentMcpServers implements McpServerStore {
  private readonly servers: DocumentCollection<McpServerDocument>;
  private readonly definitionDocuments: DocumentCollection<McpDefinitionDocument>;
  private readonly sealer: SecretSealer;

  constructor(database: DocumentDatabase, sealer: SecretSealer) {
    this.servers = database.collection(MCP_SERVERS);
    this.definitionDocuments = database.collection(MCP_DEFINITIONS);
    this.sealer = sealer;
  }

  async ready(): Promise<void> {
    await this.definitionDocuments.ensureIndex({ server: 1 });
  }

  async revisions(): Promise<ReadonlyMap<string, string>> {
    const documents = await this.servers.find({}, { sort: { _id: 1 }, fields: { _id: 1, revision: 1 } });
    return new Map(documents.map(({ _id, revision }) => [_id, revision]));
  }

  async find(name: string): Promise<StoredMcpServer | undefined> {
    const document = await this.servers.findOne({ _id: name });
    if (document === undefined) return undefined;
    const { _id, secrets, ...fields } = document;
    return { ...fields, name: _id, secrets: this.open(document) };
  }

  async insert(server: StoredMcpServer): Promise<void> {
    const { name, ...fields } = server;
    await this.servers.insert({ ...fields, _id: name, secrets: this.seal(name, server.config, server.secrets ?? {}) });
  }

  async replace({ name, secrets, changedBy, ...fields }: StoredMcpServer, expectedRevision: string): Promise<boolean> {
    // Secrets that cannot be opened stay as they are, for when their key is there again.
    const sealed = secrets === undefined ? {} : { secrets: this.seal(name, fields.config, secrets) };
    const $set = omitUndefined({ ...fields, ...sealed, changedBy });
    const modifier = changedBy === undefined ? { $set, $unset: { changedBy: true } as const } : { $set };
    return (await this.servers.update({ _id: name, revision: expectedRevision }, modifier)) === 1;
  }

  async touch(name: string): Promise<void> {
    await this.servers.update({ _id: name }, { $set: { revision: randomUUID() } });
  }

  async remove(name: string): Promise<boolean> {
    const removed = (await this.servers.remove({ _id: name })) === 1;
    await this.definitionDocuments.remove({ server: name });
    return removed;
  }

  async definitions(name: string): Promise<ReadonlyMap<string, McpToolDefinition>> {
    const documents = await this.definitionDocuments.find({ server: name });
    // Only this class writes it.
    return new Map(documents.map(({ hash, definition }) => [hash, JSON.parse(definition) as McpToolDefinition]));
  }

  async saveDefinitions(name: string, definitions: ReadonlyMap<string, McpToolDefinition>): Promise<void> {
    await this.definitionDocuments.upsertMany(
      [...definitions].map(([hash, definition]) => ({
        _id: definitionId(name, hash),
        selector: {},
        modifier: { $set: { server: name, hash, definition: JSON.stringify(definition) } },
      })),
    );
  }

  async removeDefinitions(name: string, hashes: readonly string[]): Promise<void> {
    await this.definitionDocuments.remove({ server: name, hash: { $in: hashes } });
  }

  async reseal(): Promise<{ readonly resealed: number; readonly unopened: number }> {
    let [resealed, unopened] = [0, 0];
    for (const document of await this.servers.find({})) {
      if (document.secrets.keyId === this.sealer.currentKeyId) continue;
      const opened = this.open(document);
      if (opened === undefined) unopened += 1;
      else {
        const secrets = this.seal(document._id, document.config, opened);
        resealed += await this.servers.update(
          { _id: document._id, revision: document.revision },
          { $set: { secrets } },
        );
      }
    }
    return { resealed, unopened };
  }

  private seal(name: string, config: McpServerConfig, secrets: McpServerSecrets): SealedSecret {
    const { sealed, keyId } = this.sealer.seal(JSON.stringify(secrets), bindingOf(name, config));
    return { sealed, keyId };
  }

  private open({ _id, config, secrets }: McpServerDocument): McpServerSecrets | undefined {
    let opened: string;
    try {
      opened = this.sealer.open(secrets, bindingOf(_id, config));
    } catch {
      // Sealers say nothing but that it does not open, which the server's view shows.
      return undefined;
    }
    // Only this class seals under this binding.
    return JSON.parse(opened) as McpServerSecrets;
  }
}

function bindingOf(name: string, config: McpServerConfig): readonly string[] {
  const { clientId, issuer } = config.oauth ?? {};
  // Where the secret of a client goes.
  const client = clientId === undefined ? [] : [clientId, issuer ?? ''];
  const shared = config.shareHeaders === true ? ['shared with vendors'] : [];
  return ['mcp-server', name, mcpDestination(config), ...client, ...shared];
}

function definitionId(server: string, hash: string): string {
  return createHash('sha256').update(`${server}\n${hash}`).digest('hex');
}
