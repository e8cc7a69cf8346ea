/**
 * DocumentCollection over Meteor's own collection, whose writes its observers, and so the publications, see at
 * once.
 */
import type { Mongo } from 'meteor/mongo';
import type {
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
} from '../../../domain/interfaces/DocumentCollection';
import { copyDocument } from './query/copyDocument';
import { readFindOptions } from './query/findOptions';
import { readIndex } from './query/parseIndex';
import type { IndexOptions } from './query/parseIndex';
import { readModifier } from './query/parseModifier';
import { readSelector } from './query/parseSelector';
import { storeError } from './databaseErrors';

export class MeteorCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly name: string;
  private readonly collection: Mongo.Collection<StoredDocument>;

  constructor(name: string, collection: Mongo.Collection<StoredDocument>) {
    this.name = name;
    this.collection = collection;
  }

  async insert(document: T): Promise<void> {
    const row = copyDocument<StoredDocument>(document);
    await this.ask((collection) => collection.insertAsync(row));
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    const checked = readSelector(selector);
    const checkedOptions = readFindOptions(options);
    const rows = await this.ask((collection) => collection.find(checked, checkedOptions).fetchAsync());
    // The boundary to Meteor: what is in the collection was put there as T.
    return rows as readonly StoredDocument[] as readonly T[];
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const checked = readSelector(selector);
    const change = readModifier(modifier);
    return this.ask((collection) => collection.updateAsync(checked, change, { multi: options.multi === true }));
  }

  async remove(selector: Selector): Promise<number> {
    const checked = readSelector(selector);
    return this.ask((collection) => collection.removeAsync(checked));
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = readIndex(keys, options);
    await this.ask((collection) => collection.createIndexAsync(index.keys, index.options));
  }

  private async ask<Answer>(
    question: (collection: Mongo.Collection<StoredDocument>) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await question(this.collection);
    } catch (cause) {
      throw storeError(cause, this.name);
    }
  }
}
