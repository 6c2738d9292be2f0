# Completion of kbp for PowerShell. Printed by `kbp completions powershell`. Not tested.
Register-ArgumentCompleter -Native -CommandName kbp -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object { if ($_.Value -is [string]) { $_.Value } else { $_.Extent.Text } })
    if (-not $wordToComplete) { $words += '' }
    $lines = @(& $words[0] __complete powershell -- @words 2>$null)
    if ($lines.Count -lt 2) { return }
    foreach ($line in $lines[1..($lines.Count - 1)]) {
        $value, $help = $line -split "`t", 2
        if (-not $value) { continue }
        $text = if ($value -match "[^\w@%+=:,./~-]") { "'" + $value.Replace("'", "''") + "'" } else { $value }
        $tip = if ($help) { $help } else { $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $tip)
    }
}
