# scipy.optimize, as matchers of objects use it.
import numpy as np
import torch


def _assigned(cost, rows, columns):
    """The column of each row, of no more rows than columns: shortest augmenting paths."""
    endless = float("inf")
    of_row, of_column = [0.0] * rows, [0.0] * columns
    row_at, column_at = [-1] * columns, [-1] * rows
    for first in range(rows):
        shortest, before = [endless] * columns, [-1] * columns
        seen_rows, seen_columns = [], [False] * columns
        row, least, end = first, 0.0, -1
        while end < 0:
            seen_rows.append(row)
            best, chosen = endless, -1
            for j in range(columns):
                if seen_columns[j]:
                    continue
                way = least + cost[row][j] - of_row[row] - of_column[j]
                if way < shortest[j]:
                    shortest[j], before[j] = way, row
                if shortest[j] < best or (shortest[j] == best and row_at[j] < 0):
                    best, chosen = shortest[j], j
            least = best
            if least == endless:
                raise ValueError("cost matrix is infeasible")
            seen_columns[chosen] = True
            end = chosen if row_at[chosen] < 0 else -1
            row = row_at[chosen]
        of_row[first] += least
        for row in seen_rows:
            if row != first:
                of_row[row] += least - shortest[column_at[row]]
        for j in range(columns):
            if seen_columns[j]:
                of_column[j] -= least - shortest[j]
        j = end
        while True:
            row = before[j]
            row_at[j] = row
            column_at[row], j = j, column_at[row]
            if row == first:
                break
    return column_at


def linear_sum_assignment(cost_matrix, maximize=False):
    matrix = np.tensor_of(cost_matrix) if not isinstance(cost_matrix, torch.Tensor) else cost_matrix
    if matrix.dim() != 2:
        raise ValueError(f"expected a matrix (2-D array), got a {matrix.dim()} array")
    matrix = matrix.detach().double()
    if maximize:
        matrix = -matrix
    turned = matrix.shape[0] > matrix.shape[1]
    matrix = matrix.t() if turned else matrix
    rows, columns = matrix.shape
    found = _assigned(matrix.tolist(), rows, columns)
    if not turned:
        return np.arange(rows), np.array(found, dtype=np.int64)
    pairs = sorted([(j, i) for i, j in enumerate(found)])
    return np.array([j for j, _ in pairs], dtype=np.int64), np.array([i for _, i in pairs], dtype=np.int64)
