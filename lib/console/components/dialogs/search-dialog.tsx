import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

/** What a search dialog finds. `keywords` are words that find it and that it does not show. */
export type Findable = { group: string; label: string; keywords?: string };

type Props<Item extends Findable> = {
  /** The name of the dialog. */
  name: string;
  /** The name of the field, and what it shows while it is empty. */
  label: string;
  placeholder: string;
  /** The items in the order of their groups. A group without a name has no head. */
  items: readonly Item[];
  typed: string;
  onType: (typed: string) => void;
  /** Shown if no item has the words that were typed. */
  none: string;
  /** What is beside the label of an item. */
  detailOf: (item: Item) => ReactNode;
  choose: (item: Item) => void;
  onClose: () => void;
  onFocus?: () => void;
};

type Group<Item> = { name: string; items: Item[] };

/** A dialog with a field that finds items by their words; Enter chooses the highlighted one. Escape and a click beside it close it. */
export function SearchDialog<Item extends Findable>(props: Props<Item>) {
  const { name, label, placeholder, items, typed, onType, none, detailOf, choose, onClose, onFocus } = props;
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        {/* Without `forceRender`, a dialog that a panel opens would have none. */}
        <Dialog.Backdrop className="backdrop" forceRender />
        <Dialog.Popup className="modal command-menu" aria-label={name}>
          <Autocomplete.Root
            open
            inline
            items={groupsOf(items)}
            value={typed}
            onValueChange={onType}
            filter={hasWords}
            itemToStringValue={({ label }: Item) => label}
            autoHighlight="always"
            keepHighlight
          >
            <div className="command-field">
              <Autocomplete.Input aria-label={label} placeholder={placeholder} spellCheck={false} onFocus={onFocus} />
              <Dialog.Close aria-label="Close">×</Dialog.Close>
            </div>
            <Autocomplete.Empty className="command-none">{none}</Autocomplete.Empty>
            <Autocomplete.List className="command-list">
              {({ name, items }: Group<Item>) => (
                <Autocomplete.Group key={name} items={items} className="command-group">
                  {name !== '' && (
                    <Autocomplete.GroupLabel className="command-group-name">{name}</Autocomplete.GroupLabel>
                  )}
                  <Autocomplete.Collection>
                    {(item: Item) => (
                      <Autocomplete.Item
                        key={`${item.label} ${item.keywords}`}
                        value={item}
                        className="menu-item choice"
                        onClick={() => {
                          onClose();
                          choose(item);
                        }}
                      >
                        <span className="ellipsis">{item.label}</span>
                        {detailOf(item)}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Returns the items by their groups, in the order of the first item of each. */
function groupsOf<Item extends Findable>(items: readonly Item[]): Group<Item>[] {
  return [...new Set(items.map(({ group }) => group))].map((name) => ({
    name,
    items: items.filter(({ group }) => group === name),
  }));
}

/** Returns whether an item has all words of a query, in any order: in its group, its label or its keywords. */
function hasWords({ group, label, keywords = '' }: Findable, query: string): boolean {
  const text = `${group} ${label} ${keywords}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
