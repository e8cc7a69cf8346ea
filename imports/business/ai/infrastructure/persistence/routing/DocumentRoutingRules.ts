/** Routing rules in a document collection: one document per rule, whose id is the rule's name. */
import type { RoutingRule } from '../../../domain/entities/RoutingRule';
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import { insertNew } from '../../../../../database/insertNew';
import type { RoutingRuleStore, StoredRoutingRule } from '../../../domain/interfaces/RoutingRuleStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';

export const ROUTING_RULES = 'ai_routing_rules';

export interface RoutingRuleDocument extends StoredDocument {
  readonly rule: Omit<RoutingRule, 'name'>;
  readonly changedAt: number;
  readonly changedBy?: string;
}

export class DocumentRoutingRules implements RoutingRuleStore {
  private readonly collection: DocumentCollection<RoutingRuleDocument>;

  constructor(collection: DocumentCollection<RoutingRuleDocument>) {
    this.collection = collection;
  }

  async all(): Promise<readonly StoredRoutingRule[]> {
    return (await this.collection.find({}, { sort: { _id: 1 } })).map(({ _id, rule, changedAt, changedBy }) =>
      omitUndefined({ rule: { ...rule, name: _id }, changedAt, changedBy }),
    );
  }

  async save({ rule: { name: _id, ...rule }, changedAt, changedBy }: StoredRoutingRule): Promise<void> {
    const fields = omitUndefined({ rule, changedAt, changedBy });
    const modifier = { $set: fields, ...(changedBy === undefined ? { $unset: { changedBy: true } as const } : {}) };
    if ((await this.collection.update({ _id }, modifier)) === 1) return;
    // If not, another process has saved it a moment ago.
    if (!(await insertNew(this.collection, { _id, ...fields }))) await this.collection.update({ _id }, modifier);
  }

  async remove(name: string): Promise<boolean> {
    return (await this.collection.remove({ _id: name })) === 1;
  }
}
