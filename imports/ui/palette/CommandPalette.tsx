/** Goes to pages and runs, and carries out actions, by typing a few letters: ⌘K or Ctrl+K. */
import { useId, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { Dialog } from '../components/Dialog';
import { Icon } from '../components/Icon';
import { matchCommands } from './commands';
import type { Command } from './commands';
import { useRunCommands } from './useRunCommands';

export interface CommandPaletteProps {
  readonly commands: readonly Command[];
  readonly onClose: () => void;
}

export function CommandPalette({ commands, onClose }: CommandPaletteProps) {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const id = useId();
  const found = useRunCommands(text.trim());
  const matching = byGroup([...matchCommands(commands, text), ...found]);
  const current = Math.min(selected, matching.length - 1);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    // The dialog returns the focus before the page that is opened takes it.
    onClose();
    setTimeout(command.run);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step !== undefined && matching.length > 0) {
      event.preventDefault();
      setSelected((current + step + matching.length) % matching.length);
    }
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      run(matching[current]);
    }
  };
  const selectedId = matching[current]?.id;
  return (
    <Dialog label="Command palette" className="palette" onClose={onClose}>
      <div className="palette-field">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Search pages, actions and runs"
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={selectedId === undefined ? undefined : `${id}-${selectedId}`}
          placeholder="Search pages, actions and runs"
          autoComplete="off"
          autoFocus
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setSelected(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul role="listbox" id={id} aria-label="Results" className="palette-results">
        {matching.map((command, index) => (
          <li
            key={command.id}
            id={`${id}-${command.id}`}
            role="option"
            aria-selected={index === current}
            ref={(element) => (index === current ? element?.scrollIntoView({ block: 'nearest' }) : undefined)}
            onPointerMove={() => setSelected(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <bdi className="palette-label">{command.label}</bdi>
            <span className="palette-detail">{command.detail ?? command.group}</span>
          </li>
        ))}
      </ul>
      <p className={matching.length === 0 ? 'palette-empty' : 'visually-hidden'} role="status">
        {matching.length === 0 ? 'Nothing matches' : `${matching.length} results`}
      </p>
    </Dialog>
  );
}

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 };

/** In the order in which the groups first appear. */
function byGroup(commands: readonly Command[]): readonly Command[] {
  const groups = [...new Set(commands.map(({ group }) => group))];
  return groups.flatMap((name) => commands.filter(({ group }) => group === name));
}
