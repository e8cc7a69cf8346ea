/** Accounts at MCP servers in one collection: one document per server and user, sealed for both. */
import { createHash, randomUUID } from 'node:crypto';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import type { McpAccount, McpAccountKey, McpAccounts } from '../domain/McpAccounts';
import type { SealedSecret, SecretSealer } from '../../ai/domain/interfaces/SecretSealer';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';

export const MCP_ACCOUNTS = 'ai_mcp_accounts';

export interface McpAccountDocument extends StoredDocument {
  readonly server: string;
  readonly userId: string | null;
  readonly content: SealedSecret;
  readonly listsTools: boolean;
  readonly revision: string;
  readonly signedInAt: number;
}

export class DocumentMcpAccounts implements McpAccounts {
  private readonly documents: DocumentCollection<McpAccountDocument>;
  private readonly sealer: SecretSealer;

  constructor(database: Pick<DocumentDatabase, 'collection'>, sealer: SecretSealer) {
    this.documents = database.collection(MCP_ACCOUNTS);
    this.sealer = sealer;
  }

  /** Creates the collection's indexes. Idempotent. */
  async ready(): Promise<void> {
    await this.documents.ensureIndex({ server: 1 });
    await this.documents.ensureIndex({ userId: 1 });
  }

  async find(key: McpAccountKey): Promise<McpAccount | undefined> {
    return this.read(await this.documents.findOne({ _id: idOf(key) }));
  }

  async findListing(server: string): Promise<McpAccount | undefined> {
    return this.read(await this.documents.findOne({ server, listsTools: true }, { sort: { signedInAt: -1, _id: 1 } }));
  }

  async signedInAt(userId: string | null): Promise<ReadonlyMap<string, number>> {
    const documents = await this.documents.find({ userId }, { fields: { _id: 1, server: 1, signedInAt: 1 } });
    return new Map(documents.map(({ server, signedInAt }) => [server, signedInAt]));
  }

  async put({ content, ...account }: Parameters<McpAccounts['put']>[0]): Promise<void> {
    const $set = { ...account, content: this.seal(account, content), revision: randomUUID() };
    await this.documents.upsertMany([{ _id: idOf(account), selector: {}, modifier: { $set } }]);
  }

  async replaceContent(key: McpAccountKey, content: string, expectedRevision: string): Promise<boolean> {
    const $set = { content: this.seal(key, content), revision: randomUUID() };
    return (await this.documents.update({ _id: idOf(key), revision: expectedRevision }, { $set })) === 1;
  }

  async take(key: McpAccountKey): Promise<McpAccount | undefined> {
    const account = await this.find(key);
    await this.documents.remove({ _id: idOf(key) });
    return account;
  }

  async removeOfServer(server: string): Promise<void> {
    await this.documents.remove({ server });
  }

  async reseal(): Promise<{ readonly resealed: number; readonly unopened: number }> {
    let [resealed, unopened] = [0, 0];
    for (const document of await this.documents.find({})) {
      if (document.content.keyId === this.sealer.currentKeyId) continue;
      const content = this.open(document);
      if (content === undefined) unopened += 1;
      else if (await this.replaceContent(document, content, document.revision)) resealed += 1;
    }
    return { resealed, unopened };
  }

  private read(document: McpAccountDocument | undefined): McpAccount | undefined {
    if (document === undefined) return undefined;
    const { _id: _, ...account } = document;
    return { ...account, content: this.open(document) };
  }

  private seal(key: McpAccountKey, content: string): SealedSecret {
    const { sealed, keyId } = this.sealer.seal(content, bindingOf(key));
    return { sealed, keyId };
  }

  private open(document: McpAccountDocument): string | undefined {
    try {
      return this.sealer.open(document.content, bindingOf(document));
    } catch {
      // Sealers say nothing but that it does not open: its user signs in again.
      return undefined;
    }
  }
}

function bindingOf({ server, userId }: McpAccountKey): readonly (string | null)[] {
  return ['mcp-account', server, userId];
}

function idOf({ server, userId }: McpAccountKey): string {
  return createHash('sha256')
    .update(JSON.stringify([server, userId]))
    .digest('hex');
}
