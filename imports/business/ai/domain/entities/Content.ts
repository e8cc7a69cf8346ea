/** Makers and readers of message parts. */
import type { Content, InputText, OutputText } from '../types/ResponsesAPITypes';

export function inputText(text: string): InputText {
  return { type: 'input_text', text };
}

export function outputText(text: string, annotations: OutputText['annotations'] = []): OutputText {
  return { type: 'output_text', text, annotations };
}

/** The readable text of parts: text as it is, refusals too, images and files not. */
export function textOfContent(content: readonly Content[]): string {
  let text = '';
  for (const part of content) {
    if (part.type === 'input_text' || part.type === 'output_text') text += part.text;
    else if (part.type === 'refusal') text += part.refusal;
  }
  return text;
}
