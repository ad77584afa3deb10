import { type InputHTMLAttributes, useEffect, useRef } from 'react';

type Props = { value: string; onApply: (value: string) => void } & Omit<
  InputHTMLAttributes<HTMLInputElement>,
  'value' | 'onBlur' | 'onKeyDown'
>;

/** An input whose value applies with Enter, or when the focus leaves it, and not with each key. */
export function FilterInput({ value, onApply, ...rest }: Props) {
  const input = useRef<HTMLInputElement>(null);
  // The value can change without the input, for example by a button that clears all filters.
  useEffect(() => {
    if (input.current) input.current.value = value;
  }, [value]);
  const apply = () => {
    const entered = input.current?.value.trim() ?? '';
    if (entered !== value) onApply(entered);
  };
  return (
    <input
      ref={input}
      defaultValue={value}
      autoComplete="off"
      spellCheck={false}
      {...rest}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  );
}
