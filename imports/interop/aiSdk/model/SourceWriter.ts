/** Converts annotations to citations and the sources that they cite. */
import type { LanguageModelV4Citation, LanguageModelV4Source } from '@ai-sdk/provider';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';

type SourceFields =
  | { readonly sourceType: 'url'; readonly url: string; readonly title?: string }
  | {
      readonly sourceType: 'document';
      readonly mediaType: string;
      readonly title: string;
      readonly filename?: string;
    };

/** The sources of one response. Each appears once, however often it is cited. */
export class SourceWriter {
  private readonly createId: () => string;
  private readonly sources = new Map<string, LanguageModelV4Source>();
  private readonly untaken = new Set<LanguageModelV4Source>();

  constructor(createId: () => string) {
    this.createId = createId;
  }

  /** Annotations of other types than citations have no counterpart; they are carried with their text. */
  citations(annotations: readonly JsonObject[]): LanguageModelV4Citation[] {
    return annotations.flatMap((annotation) => {
      const source = this.source(annotation);
      if (source === undefined) return [];
      const { start_index: startIndex, end_index: endIndex, cited_text: citedText } = annotation;
      return [
        {
          source,
          ...(typeof startIndex === 'number' ? { startIndex } : {}),
          ...(typeof endIndex === 'number' ? { endIndex } : {}),
          ...(typeof citedText === 'string' ? { citedText } : {}),
        },
      ];
    });
  }

  /** The sources that are new since the last call. */
  take(): readonly LanguageModelV4Source[] {
    const taken = [...this.untaken];
    this.untaken.clear();
    return taken;
  }

  private source(annotation: JsonObject): LanguageModelV4Source | undefined {
    const { type, url, title, filename, file_id, index } = annotation;
    if (type === 'url_citation' && typeof url === 'string')
      return this.remember(url, {
        sourceType: 'url',
        url,
        ...(typeof title === 'string' && title !== '' ? { title } : {}),
      });
    if (type !== 'file_citation' && type !== 'container_file_citation') return undefined;
    const name = [filename, file_id].find((each) => typeof each === 'string') ?? 'document';
    return this.remember(JSON.stringify([file_id, index, name]), {
      sourceType: 'document',
      // Annotations do not state the type of the file.
      mediaType: 'application/octet-stream',
      title: name,
      ...(typeof filename === 'string' ? { filename } : {}),
    });
  }

  private remember(key: string, fields: SourceFields): LanguageModelV4Source {
    const existing = this.sources.get(key);
    if (existing !== undefined) return existing;
    const source: LanguageModelV4Source = { type: 'source', id: this.createId(), ...fields };
    this.sources.set(key, source);
    this.untaken.add(source);
    return source;
  }
}
