/**
 * Converts citations to annotations. The originals are stored in the vendor fields of their text.
 * https://platform.claude.com/docs/en/build-with-claude/citations
 */
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** A citation of an unknown type becomes an annotation of the same type. */
export function toAnnotation(citation: unknown): JsonObject {
  if (!isObject(citation)) return { type: 'citation', citation };
  const { type, cited_text } = citation;
  switch (type) {
    case 'web_search_result_location':
      return { type: 'url_citation', url: citation.url, title: citation.title, cited_text };
    case 'search_result_location':
      return { type: 'url_citation', url: citation.source, title: citation.title, cited_text };
    case 'char_location':
      return fileCitation(citation, { start: citation.start_char_index, end: citation.end_char_index });
    case 'page_location':
      return fileCitation(citation, { start_page: citation.start_page_number, end_page: citation.end_page_number });
    case 'content_block_location':
      return fileCitation(citation, { start_block: citation.start_block_index, end_block: citation.end_block_index });
    default:
      return { ...citation };
  }
}

function fileCitation(citation: JsonObject, location: JsonObject): JsonObject {
  const { document_index, document_title, file_id, cited_text } = citation;
  return {
    type: 'file_citation',
    index: document_index,
    filename: document_title,
    ...omitUndefined({ file_id }),
    cited_text,
    ...location,
  };
}
