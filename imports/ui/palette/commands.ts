/** What the command palette offers, and which of it matches a text. */
import type { IconName } from '../components/Icon';

export interface Command {
  readonly id: string;
  readonly label: string;
  readonly icon: IconName;
  /** The heading that the command is listed under. */
  readonly group: string;
  /** What else someone may type for it. */
  readonly keywords?: string;
  /** Shown beside the label. */
  readonly detail?: string;
  readonly run: () => void;
}

/** The commands that contain every word of the text. Those whose label starts with it come first within their group. */
export function matchCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const [first = ''] = words;
  return commands
    .filter(({ label, keywords = '' }) => {
      const searched = `${label} ${keywords}`.toLowerCase();
      return words.every((word) => searched.includes(word));
    })
    .toSorted(
      (a, b) => Number(b.label.toLowerCase().startsWith(first)) - Number(a.label.toLowerCase().startsWith(first)),
    );
}
