import { isLLMError } from '../business/ai/domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from './DocumentCollection';

/** @returns false if there is a document with its id, or with another value that must be unique */
export async function insertNew<T extends StoredDocument>(
  collection: Pick<DocumentCollection<T>, 'insert'>,
  document: T,
): Promise<boolean> {
  try {
    await collection.insert(document);
    return true;
  } catch (error) {
    if (isLLMError(error) && error.code === 'conflict') return false;
    throw error;
  }
}
